// Sixty bindings of the world, and which users, groups and accounts may read which Secret by them. The truth
// of a binding is written beside it, and is never found by reading its rules.

export type Reader = {
  readonly kind: "User" | "Group" | "ServiceAccount";
  readonly name: string;
  /** Of an account. */
  readonly namespace?: string;
};

export type Binding = {
  readonly subjects: readonly Reader[];
  /** undefined: a ClusterRoleBinding. */
  readonly namespace: string | undefined;
  /** Kind, name and rules of the role. Without rules it does not exist. */
  readonly role: {
    readonly kind: "Role" | "ClusterRole";
    readonly name: string;
    readonly rules?: readonly Rule[];
  };
  /** What it really lets its subjects read: nothing, all Secrets in its scope, or those of these names. */
  readonly reads: "nothing" | "all" | readonly string[];
};

export type Rule = {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
};

const core = (
  resources: readonly string[],
  verbs: readonly string[],
  resourceNames?: readonly string[],
): Rule => ({ apiGroups: [""], resources, verbs, ...(resourceNames && { resourceNames }) });

/** Rules, and what they let a subject read. */
const GRANTS: readonly (readonly [readonly Rule[], Binding["reads"]])[] = [
  [[core(["secrets"], ["get"])], "all"],
  [[core(["secrets"], ["list"])], "all"],
  [[core(["secrets"], ["watch"])], "all"],
  [[core(["*"], ["*"])], "all"],
  [[{ apiGroups: ["*"], resources: ["*"], verbs: ["get"] }], "all"],
  [[core(["configmaps", "secrets"], ["create", "get"])], "all"],
  [[core(["pods"], ["get"]), core(["secrets"], ["list"])], "all"],
  [[core(["secrets"], ["get"], ["registry"])], ["registry"]],
  [[core(["secrets"], ["get", "patch"], ["db-credentials", "token"])], ["db-credentials", "token"]],
  [[core(["secrets"], ["create", "delete", "patch", "update"])], "nothing"],
  [[core(["configmaps"], ["get", "list", "watch"])], "nothing"],
  [[core(["secrets/status"], ["get"])], "nothing"],
  [[{ apiGroups: ["apps"], resources: ["*"], verbs: ["*"] }], "nothing"],
  [[core(["secrets"], ["get"], ["another"])], ["another"]],
  [[], "nothing"],
];

/** `prefix`: of all names. `namespaces`: where namespaced bindings are put. */
export function makeBindings(prefix: string, namespaces: readonly string[]): readonly Binding[] {
  const subjectOf = (index: number): readonly Reader[] => {
    const name = `${prefix}-reader-${index}`;
    const namespace = namespaces[index % namespaces.length] ?? "";
    switch (index % 5) {
      case 0:
        return [{ kind: "Group", name }];
      case 1:
        return [{ kind: "ServiceAccount", name: "reader", namespace }];
      case 2:
        return [{ kind: "Group", name: `system:serviceaccounts:${namespace}` }];
      case 3:
        return [
          { kind: "User", name },
          { kind: "Group", name: `${name}-too` },
        ];
      default:
        return [{ kind: "User", name }];
    }
  };
  return Array.from({ length: 60 }, (_, index): Binding => {
    const [rules, reads] = GRANTS[index % GRANTS.length] ?? [[], "nothing"];
    const scope = Math.floor(index / GRANTS.length);
    const name = `${prefix}-role-${index}`;
    const namespace = namespaces[(index * 7) % namespaces.length] ?? "";
    const subjects = subjectOf(index);
    switch (scope) {
      case 0:
        return {
          subjects,
          namespace: undefined,
          reads,
          role: { kind: "ClusterRole", name, rules },
        };
      case 1:
        return { subjects, namespace, reads, role: { kind: "ClusterRole", name, rules } };
      case 2:
        return { subjects, namespace, reads, role: { kind: "Role", name, rules } };
      default:
        // Every other one is bound to a role that does not exist.
        return index % 2 === 0
          ? { subjects, namespace, reads: "nothing", role: { kind: "Role", name } }
          : { subjects, namespace, reads, role: { kind: "Role", name, rules } };
    }
  });
}

/** Sorted, each once: "User x", "Group y", "ServiceAccount namespace/z". */
export function readersOf(
  { namespace, name }: { readonly namespace: string; readonly name: string },
  bindings: readonly Binding[],
): readonly string[] {
  const found = bindings
    .filter((binding) => (binding.namespace ?? namespace) === namespace)
    .filter(({ reads }) => reads === "all" || (reads !== "nothing" && reads.includes(name)))
    .flatMap(({ subjects }) => subjects.map(readerText));
  return [...new Set(found)].toSorted();
}

export function readerText({ kind, name, namespace }: Reader): string {
  return namespace === undefined ? `${kind} ${name}` : `${kind} ${namespace}/${name}`;
}
