// Rights of the user that a rotation misses, each with the line to ask for.
import type { Owners } from "./find-owners.ts";
import type { LeftOut } from "./left-out.ts";
import { listed } from "../../text/listed.ts";
import type { PodsAsRead } from "../holding/revocation.ts";

export function missingRightLines(
  { unread }: PodsAsRead,
  { unread: resources }: Owners,
  leftOut: Pick<LeftOut, "isUnread">,
): readonly string[] {
  const names = [...unread].toSorted();
  const lines: string[] = [];
  if (names.length > 0) {
    lines.push(
      `Pods may not be listed in ${listed(names)} (403 Forbidden): whether they hold an older value is not known; ask for: ${bindingLine(names)}`,
    );
  }
  if (leftOut.isUnread)
    lines.push(
      "not every object may be listed (403 Forbidden): copies that were left outside --namespaces or --only-names are not known",
    );
  for (const { plural, group } of resources)
    lines.push(
      `${plural}.${group} may not be read (403 Forbidden): what owns them is not named; ask for: ${clusterLine(`get --resource=${plural}.${group}`)}`,
    );
  return lines;
}

function bindingLine(names: readonly string[]): string {
  const [only, ...others] = names;
  return only !== undefined && others.length === 0
    ? `kubectl create rolebinding secretcast-rotation -n ${only} --clusterrole=view --user=USER`
    : clusterLine("list --resource=pods");
}

function clusterLine(verb: string): string {
  return `kubectl create clusterrole secretcast-rotation --verb=${verb}, and a clusterrolebinding to it`;
}
