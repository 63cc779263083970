// What makes the rules of External Secrets harmless while it runs. With creationPolicy Orphan it takes its owner
// references off by itself, and no deletion of a rule reaches a copy. Before the clean-up the rules are
// deleted, because they write their marks again.
import { creationPolicy, makerOf, specOf } from "./external-rules.ts";
import { customPlace, type OldCustom } from "../old-objects.ts";
import type { MoveStepName, OldSource } from "../old-tool.ts";
import { shellCommand } from "../../../text/shell-word.ts";

/** Rules that would undo a step, or delete copies, with the command that changes that. */
export function armed(
  customs: readonly OldCustom[],
  step: MoveStepName,
  moving: readonly OldSource[],
): readonly string[] {
  const titles = new Set(moving.flatMap(({ title }) => title.split(", ")));
  return customs.flatMap((custom) => {
    const { kind, namespace, name } = custom;
    if (kind !== "ClusterExternalSecret" && kind !== "ExternalSecret") return [];
    const maker = makerOf(custom);
    const place = customPlace(custom);
    const title = maker === undefined ? `${kind} ${place}` : `ClusterExternalSecret ${maker}`;
    if (!titles.has(title)) return [];
    const what = [...(namespace === undefined ? [] : ["-n", namespace]), kind.toLowerCase(), name];
    if (creationPolicy(specOf(custom)) === "Orphan") {
      if (step === "move" || maker !== undefined) return [];
      return [`${title}: ${shellCommand("kubectl", "delete", ...what)}`];
    }
    if (maker !== undefined) return [`${kind} ${place}: wait until it has the policy of its rule`];
    const orphan = { target: { creationPolicy: "Orphan" } };
    const spec = kind === "ExternalSecret" ? orphan : { externalSecretSpec: orphan };
    const patch = JSON.stringify({ spec });
    return [`${title}: ${shellCommand("kubectl", "patch", ...what, "--type=merge", "-p", patch)}`];
  });
}
