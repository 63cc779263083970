// The scope of a list and of the watch that follows it.
import type { Resource } from "../rest/resource.ts";

export type ListScope = {
  readonly resource: Resource;
  /** All namespaces when absent. */
  readonly namespace?: string | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
};

/** The scope as query parameters. */
export function scopeSelectors(scope: ListScope): Readonly<Record<string, string | undefined>> {
  return { labelSelector: scope.labelSelector, fieldSelector: scope.fieldSelector };
}

/** Selects one name. An account with rights by resourceNames may list and watch with this selector only. */
export function nameSelector(name: string, fieldSelector?: string): string {
  const ofName = `metadata.name=${name}`;
  return fieldSelector === undefined ? ofName : `${ofName},${fieldSelector}`;
}

/** For messages: "secrets in team-a". */
export function describeScope({ resource, namespace }: ListScope): string {
  return namespace === undefined ? resource.plural : `${resource.plural} in ${namespace}`;
}
