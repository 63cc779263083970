// What a controller tells of places and sources, for tests: the verdict of its newest settled plan and
// the Events that it left on a Secret. Of copies that are as they should be a plan has no row.
import { EVENTS, resourcePath } from "../../../packages/kube/rest/resource.ts";
import type { Plan, Row } from "../../../src/controller/model/verdicts.ts";
import { eventually } from "../../../packages/kube/testing/eventually.ts";
import type { Running, Scene } from "./scene.ts";
import { type Ref, refText } from "../../../src/text/names.ts";

export function rowAt(plan: Plan | undefined, place: string, source?: Ref): Row | undefined {
  return plan?.rows.find(
    (row) =>
      refText(row.place) === place &&
      (source === undefined || refText(row.source) === refText(source)),
  );
}

/** Waits until the newest plan calls the place of `registry` there a conflict. */
export function conflictTold(running: Running, namespace: string): Promise<unknown> {
  return eventually(
    `the conflict in ${namespace} is told`,
    () => rowAt(running.settled(), `${namespace}/registry`)?.verdict === "conflict",
  );
}

type RawEvent = {
  readonly reason: string;
  readonly note?: string;
  readonly regarding?: { readonly kind?: string; readonly name?: string };
};

/** The notes of the Events with this reason on the Secret `namespace`/`name`. */
export async function eventNotes(
  { api }: Scene,
  namespace: string,
  name: string,
  reason: string,
  kind: string = api.kind,
): Promise<readonly string[]> {
  const { items } = await api.client.request<{ items: readonly RawEvent[] }>({
    method: "GET",
    path: resourcePath(EVENTS, namespace),
    what: `list events in ${namespace}`,
  });
  return items
    .filter(({ regarding, reason: of }) => regarding?.name === name && of === reason)
    .filter(({ regarding }) => regarding?.kind === kind)
    .map(({ note }) => note ?? "");
}
