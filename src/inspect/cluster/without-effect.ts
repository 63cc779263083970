// Lines about what has no effect, and so no row in a plan or a status: a source list that is not read, namespaces
// with invalid annotations, and Secrets that look like sources to their owners but are not.
import { IGNORED_HEADLINES } from "../../controller/annotations/ignored.ts";
import { problemText } from "../../controller/annotations/rules.ts";
import { reasonText } from "../../controller/model/reasons.ts";
import type { Plan } from "../../controller/model/verdicts.ts";
import { listed } from "../../text/listed.ts";
import { refText } from "../../text/names.ts";

/** As in the status of a controller's page. */
export type Effectless = {
  readonly list: { readonly state: Plan["list"]["state"]; readonly reason: string };
  readonly unclear: {
    readonly total: number;
    readonly shown: readonly { readonly namespace: string; readonly problem: string }[];
  };
  readonly ignored: {
    readonly reasons: readonly {
      readonly reason: string;
      readonly text: string;
      readonly count: number;
    }[];
    readonly objects: {
      readonly shown: readonly { readonly object: string; readonly reason: string }[];
    };
  };
};

const MOST = 5;
const OUTSIDE = "namespace";

export function withoutEffect({ list, unclear, ignored }: Effectless): readonly string[] {
  const frozen = unclear.shown
    .slice(0, MOST)
    .map(({ namespace, problem }) => `copies in ${namespace} are frozen: ${problem}`);
  const rest = unclear.total - frozen.length;
  const outside = ignored.reasons.find(({ reason }) => reason === OUTSIDE);
  const named = ignored.objects.shown.filter(({ reason }) => reason === OUTSIDE);
  const names = listed(
    named.map(({ object }) => object),
    MOST,
    { count: outside?.count ?? 0 },
  );
  return [
    ...(list.state === "unread" ? [list.reason] : []),
    ...frozen,
    ...(rest > 0 ? [`copies in ${rest} more namespaces are frozen for such reasons`] : []),
    ...(outside ? [`ignored, ${outside.text}${named.length > 0 ? `: ${names}` : ""}`] : []),
  ];
}

/** The same of a plan, in one namespace or in all. A list that the user may not read is reported as unknown. */
export function effectlessOf(
  { list, namespaces, ignored }: Plan,
  namespace: string | undefined,
): Effectless {
  const isAsked = (one: string): boolean => namespace === undefined || one === namespace;
  const unclear = namespaces.filter((one) => isAsked(one.namespace));
  const sample = ignored.sample.filter(({ object }) => isAsked(object.namespace));
  const count = ignored.counts[OUTSIDE];
  const outside = { reason: OUTSIDE, text: IGNORED_HEADLINES[OUTSIDE], count };
  return {
    list: {
      state: list.reason?.code === "ListForbidden" ? "absent" : list.state,
      reason: list.reason ? reasonText(list.reason) : "",
    },
    unclear: {
      total: unclear.length,
      shown: unclear.map((one) => ({ ...one, problem: problemText(one.problem) })),
    },
    ignored: {
      reasons: count > 0 ? [outside] : [],
      objects: {
        shown: sample.map((one) => ({ object: refText(one.object), reason: one.ignored.reason })),
      },
    },
  };
}
