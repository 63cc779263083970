// What External Secrets leaves behind: Secrets that it still owns, its rules and their stores, and
// finalizers on its resources and on Namespaces.
import type { OldCluster, OldNamespace, OldObject } from "../old-objects.ts";
import { isOwner } from "./external-marks.ts";
import type { ExternalObject, ExternalRule, ExternalRules } from "./external-rules.ts";
import { listed } from "../../../text/listed.ts";
import { refText } from "../../../text/names.ts";
import { shellCommand } from "../../../text/shell-word.ts";

const CLUSTER_FINALIZER = "externalsecrets.external-secrets.io/ces-";
/** Names in one command. */
const AT_ONCE = 50;
const MOST_COMMANDS = 20;

/** The steps by hand, in their order. `moving`: the rules that move. `copies`: the places of ours. */
export function externalLeftovers(
  { secrets, namespaces, customs }: OldCluster,
  { rules, objects }: ExternalRules,
  moving: readonly ExternalRule[],
  copies: ReadonlySet<string>,
): readonly string[] {
  // Those of a rule that stays are taken off by External Secrets itself.
  const staying = new Set(
    customs
      .filter(
        (one) =>
          one.kind === "ClusterExternalSecret" && !moving.some(({ custom }) => custom === one),
      )
      .map(({ name }) => `${CLUSTER_FINALIZER}${name}`),
  );
  const isLeft = (finalizer: string): boolean =>
    finalizer.startsWith(CLUSTER_FINALIZER) && !staying.has(finalizer);
  const held = namespaces.filter(({ finalizers }) => finalizers.some(isLeft));
  if (moving.length === 0 && held.length === 0) return [];
  const stores = storesOf(moving, rules);
  const moved = moving.map(({ custom }) => custom);
  const others = customs.filter(({ kind }) => !kind.endsWith("Store"));
  const isLast = others.every((one) => moved.includes(one) || isMadeBy(objects, moved, one));
  return [
    ...ownedLines(secrets, objects, moving, copies),
    ...(moving.length === 0 ? [] : ruleLines(moving)),
    ...namespaceLines(held, isLeft),
    ...(stores.size === 0
      ? []
      : [
          `delete these stores if nothing else (such as a PushSecret) names them: ${[...stores].join(", ")}`,
        ]),
    ...(isLast && moving.length > 0
      ? [
          "nothing else uses External Secrets: uninstall it, then kubectl delete validatingwebhookconfiguration secretstore-validate externalsecret-validate --ignore-not-found, then delete its definitions: kubectl get crd -o name | grep external-secrets.io | xargs kubectl delete",
        ]
      : []),
  ];
}

function isMadeBy(
  objects: readonly ExternalObject[],
  rules: readonly unknown[],
  custom: unknown,
): boolean {
  const found = objects.find((one) => one.custom === custom);
  return found?.rule !== undefined && rules.includes(found.rule.custom);
}

// What a rule owns is deleted with it. Copies that were adopted have no owner any more.
function ownedLines(
  secrets: readonly OldObject[],
  objects: readonly ExternalObject[],
  moving: readonly ExternalRule[],
  copies: ReadonlySet<string>,
): readonly string[] {
  const owned = secrets.filter((object) => {
    const { namespace, owners } = object;
    if (copies.has(refText(object))) return false;
    return objects.some(
      ({ custom, rule }) =>
        rule !== undefined &&
        moving.includes(rule) &&
        custom.namespace === namespace &&
        owners.some((owner) => isOwner(owner) && owner.name === custom.name),
    );
  });
  if (owned.length === 0) return [];
  const names = listed(owned.map(refText));
  return [
    `${owned.length} Secrets are owned by an ExternalSecret and are no copies of secretcast, so that the garbage collector deletes them with their rule: ${names}; to keep one, set creationPolicy: Orphan in its rule while External Secrets runs, or else kubectl patch secret -n NAMESPACE NAME --type=merge -p '{"metadata":{"ownerReferences":null}}'`,
  ];
}

function ruleLines(moving: readonly ExternalRule[]): readonly string[] {
  const byPlace = Map.groupBy(moving, ({ custom }) => `${custom.kind} ${custom.namespace ?? ""}`);
  const commands = [...byPlace.values()].flatMap((rules) => {
    const [first] = rules;
    if (!first) return [];
    const { kind, namespace } = first.custom;
    const what = [...(namespace === undefined ? [] : ["-n", namespace]), kind.toLowerCase()];
    return chunks(rules.map(({ custom }) => custom.name)).map((names) =>
      shellCommand("kubectl", "delete", ...what, ...names),
    );
  });
  return [
    'while External Secrets runs, delete the rules that moved; if it no longer runs, first remove the finalizers of these rules and of their ExternalSecrets: kubectl patch ... --type=merge -p \'{"metadata":{"finalizers":null}}\'',
    ...limited(commands),
  ];
}

// A namespace with such a finalizer and without its rule can never be deleted.
function namespaceLines(
  held: readonly OldNamespace[],
  isLeft: (finalizer: string) => boolean,
): readonly string[] {
  if (held.length === 0) return [];
  const byRest = Map.groupBy(held, ({ finalizers }) =>
    JSON.stringify(finalizers.filter((one) => !isLeft(one))),
  );
  const commands = [...byRest].flatMap(([rest, namespaces]) => {
    const patch = `{"metadata":{"finalizers":${rest === "[]" ? "null" : rest}}}`;
    return chunks(namespaces.map(({ name }) => name)).map((names) =>
      shellCommand("kubectl", "patch", "namespace", ...names, "--type=merge", "-p", patch),
    );
  });
  return [
    `after that, take what is left of the finalizers ${CLUSTER_FINALIZER}* off the Namespaces, which can never be deleted with them: run this again to see which have one`,
    ...limited(commands),
  ];
}

function chunks(names: readonly string[]): readonly (readonly string[])[] {
  const parts: (readonly string[])[] = [];
  for (let at = 0; at < names.length; at += AT_ONCE) parts.push(names.slice(at, at + AT_ONCE));
  return parts;
}

function limited(commands: readonly string[]): readonly string[] {
  const rest = commands.length - MOST_COMMANDS;
  if (rest <= 0) return commands;
  return [
    ...commands.slice(0, MOST_COMMANDS),
    `${rest} more commands of this kind follow: run this again to see them`,
  ];
}

// Those that the rules which stay do not name.
function storesOf(
  moving: readonly ExternalRule[],
  rules: readonly ExternalRule[],
): ReadonlySet<string> {
  const named = (some: readonly ExternalRule[]): readonly string[] =>
    some.flatMap(({ read }) => {
      if (read.kind === "data") return [read.data.store.title];
      return read.store ? [read.store.title] : [];
    });
  const others = new Set(named(rules.filter((rule) => !moving.includes(rule))));
  return new Set(named(moving).filter((store) => !others.has(store)));
}
