// What RBAC manifests grant, and what flags of `run` need, as comparable lines: `get secrets/registry in a`.
import { neededRights } from "../../../src/cli/rights/needed-rights.ts";
import { readConfig, type Environment } from "../../../src/controller/settings/config.ts";

export type RbacManifest = {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly rules?: readonly {
    readonly apiGroups: readonly string[];
    readonly resources: readonly string[];
    readonly resourceNames?: readonly string[];
    readonly verbs: readonly string[];
  }[];
  readonly roleRef?: object;
  readonly subjects?: readonly object[];
};

type Grant = {
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly name: string | undefined;
  readonly namespace: string | undefined;
};

function lines(grants: readonly Grant[]): readonly string[] {
  const texts = grants.map(({ verb, group, resource, name, namespace }) => {
    // A Namespace is read in itself, also by a ClusterRole.
    const inside = resource === "namespaces" && verb === "get" ? name : undefined;
    const what = `${verb} ${resource}${group && `.${group}`}${name === undefined ? "" : `/${name}`}`;
    return `${what} in ${namespace ?? inside ?? "*"}`;
  });
  return [...new Set(texts)].toSorted();
}

/** The grants of all roles. Names and bindings are not looked at. */
export function grantsOf(manifests: readonly RbacManifest[]): readonly string[] {
  return lines(
    manifests.flatMap(({ metadata: { namespace }, rules = [] }) =>
      rules.flatMap(({ apiGroups, resources, resourceNames = [undefined], verbs }) =>
        apiGroups.flatMap((group) =>
          resources.flatMap((resource) =>
            verbs.flatMap((verb) =>
              resourceNames.map((name) => ({ verb, group, resource, name, namespace })),
            ),
          ),
        ),
      ),
    ),
  );
}

/**
 * What the table says for a command line of `run`. `clusterRole`: Namespaces of a list may be listed and
 * watched, which no Role can grant.
 */
export function neededGrants(
  words: readonly string[],
  around: Environment,
  clusterRole = false,
): readonly string[] {
  const given = Object.fromEntries(
    words.flatMap((word, at) => {
      const [, no, name = "", value] = /^--(no-)?([a-z-]+)(?:=(.*))?$/.exec(word) ?? [];
      const next = words[at + 1];
      const text = value ?? (next === undefined || next.startsWith("-") ? true : next);
      return name === "" ? [] : [[name, no === undefined ? text : false]];
    }),
  );
  const config = readConfig(given, around);
  const needed = neededRights(config).filter(
    ({ namespace }) => clusterRole || config.namespaces === undefined || namespace !== undefined,
  );
  return lines(
    needed.flatMap(({ names = [undefined], ...right }) =>
      names.map((name) => ({ ...right, name })),
    ),
  );
}
