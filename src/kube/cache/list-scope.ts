// Which objects of a resource: the same for a list and the watch that follows it.
import type { Resource } from "../rest/resource.ts";

export type Scope = {
  readonly resource: Resource;
  /** All namespaces when absent. */
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
};

/** As query parameters. */
export function selectors(scope: Scope): Readonly<Record<string, string | undefined>> {
  return { labelSelector: scope.labelSelector, fieldSelector: scope.fieldSelector };
}

/** For messages: "secrets in team-a". */
export function describe({ resource, namespace }: Scope): string {
  return namespace === undefined ? resource.plural : `${resource.plural} in ${namespace}`;
}
