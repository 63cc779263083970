// The last answer for a place: the planner's verdict from all rules together, with advice when the result
// may be unwanted.
import { says, type ReasonCode } from "../../controller/model/reasons.ts";
import type { CachedObject } from "../../controller/model/cluster.ts";
import { METRIC_STATE, type Row } from "../../controller/model/verdicts.ts";
import type { ObjectKind } from "../../controller/model/kinds.ts";
import { type Ref, refText } from "../../text/names.ts";
import {
  failing,
  holding,
  unreadAnswer,
  type ExplainedVerdict,
  type RuleAnswer,
} from "./answer.ts";
import {
  annotateKey,
  annotateObject,
  kubectlOn,
  showManagers,
  annotateSource,
  touchObject,
} from "./what-to-type.ts";

/** The facts that determine the last answer. */
export type Found = {
  readonly kind: ObjectKind;
  readonly verdict: ExplainedVerdict;
  readonly reason: string;
  readonly place: Ref;
  readonly source: Ref;
  /** The entry of the source list that makes the object a source. Undefined when its annotations do. */
  readonly entry: { readonly key: string } | undefined;
  readonly present: CachedObject | undefined;
  readonly row: Row | undefined;
  /** The place is a pulling object. */
  readonly pulling: boolean;
};

const RULES: Readonly<Record<ExplainedVerdict, string>> = {
  create: "what is there",
  current: "what is there",
  update: "what is there",
  replace: "what is there",
  adopt: "what is there",
  delete: "the copy stays",
  release: "the copy stays",
  wait: "nothing is waited for",
  conflict: "the place is free",
  skip: "a copy is wanted there",
  held: "it is within the limits",
  paused: "the source is not paused",
  frozen: "what is to be there is known",
  backoff: "the last write was taken",
  unknown: "what is to be there is known",
};
/** In the place of a conflict's rule: a pulling object never has to wait for its own place. */
const FILLABLE = "its entries can be filled in";
/** Something that decides could not be read. */
const UNREAD: readonly ReasonCode[] = [
  "SourceUnreadable",
  "NameUnreadable",
  "ListForbidden",
  "NotConfirmed",
];
const GOOD: readonly ExplainedVerdict[] = ["create", "current", "update", "replace", "adopt"];

export function verdictAnswer(found: Found): RuleAnswer {
  const { verdict, reason, pulling } = found;
  const usual = found.row?.removal?.hold === undefined ? RULES[verdict] : RULES.delete;
  const rule = pulling && verdict === "conflict" ? FILLABLE : usual;
  if (verdict === "unknown") return unreadAnswer(rule, reason);
  return GOOD.includes(verdict) ? holding(rule, reason) : failing(rule, reason, changeOf(found));
}

function changeOf(found: Found): string | undefined {
  const { kind, verdict, row, present, source } = found;
  const why = row?.reason;
  if (verdict === "conflict") return changeOfConflict(found);
  if (verdict === "unknown") return undefined;
  switch (METRIC_STATE[verdict]) {
    case "held":
      return row?.removal?.hold === undefined
        ? "name fewer namespaces, make it smaller, or start the controller with a larger --fanout-limit"
        : undefined;
    case "paused":
      return annotateSource({ ...source, kind, entry: found.entry }, "paused", undefined);
    case "frozen":
      if (present?.role === "copy" && present.template.unknownMark !== undefined)
        return `run the newer version, or let it be made anew: ${kubectlOn("delete", kind, present)}`;
      if (why && says(why, "SourceNotRead"))
        return `start the controller with ${source.namespace} among --namespaces, or, where nobody needs the copy: ${kubectlOn("delete", kind, found.place)}`;
      if (why && UNREAD.some((code) => says(why, code)))
        return "secretcast check: it names the right that is missing";
      return undefined;
    case "failed":
      return row?.failure?.cause === undefined
        ? changeOfFight(found)
        : changeOfFailure(row.failure.cause, found);
    case "current":
    case "pending":
    case "conflict":
    case undefined:
      return undefined;
  }
}

function changeOfConflict({ kind, entry, place, source, present, row }: Found): string | undefined {
  if (row?.pulling === true) return undefined;
  const other = `another name for its copies: ${annotateSource({ ...source, kind, entry }, "name", "NAME")}`;
  if (row?.winner) return other;
  if (present?.role === "source" || present?.role === "pull") return other;
  if (present?.role !== "unmanaged") return undefined;
  const text = refText(source);
  const takes = present.adopt?.source;
  if (row?.reason.code === "ObjectInTheWay" || takes === undefined || refText(takes) !== text)
    return `its owner gives it up, entries of its own are lost: ${annotateObject(kind, place, "adopt", text)}`;
  if (present.deleting) return undefined;
  const unknown = present.adopt?.unknownKey;
  if (unknown !== undefined)
    return `its owner takes it off: ${annotateKey(kind, place, unknown, undefined)}`;
  return `its owner gives it up: ${kubectlOn("delete", kind, place)}`;
}

/** Another client repeatedly changes the object, according to its managedFields. */
function changeOfFight({ kind, place, present }: Found): string {
  const manager = present?.role === "copy" ? present.template.changedBy : undefined;
  const client = manager === undefined ? "" : ` (field manager ${JSON.stringify(manager)})`;
  return `find the other client${client}, and stop it or take the place out of the source's targets: ${showManagers(kind, place)}`;
}

/** What to do about the cause, and how to end the back-off, if a change of the source ends it. */
function changeOfFailure(cause: string, { kind, source }: Found): string {
  const advice = WHAT_TO_DO[cause] ?? "";
  if (ENDS_BY_ITSELF.has(cause)) return advice;
  return `${advice} Then try again at once: ${touchObject(kind, source)}`.trim();
}

/** A namespace that is being deleted takes nothing. A 429 keeps the time that the API server asked for. */
const ENDS_BY_ITSELF: ReadonlySet<string> = new Set(["terminating", "throttled"]);

/** What to do for each cause of a failed write. `npm run reference` writes them into docs/reference.md. */
export const WHAT_TO_DO: Readonly<Record<string, string>> = {
  policy:
    "Let the policy or its binding admit Secrets with the label app.kubernetes.io/managed-by: secretcast.",
  webhook:
    "Let the webhook admit Secrets with the label app.kubernetes.io/managed-by: secretcast. A replace needs sideEffects: None or NoneOnDryRun.",
  webhookUnreachable:
    "Repair the Deployment or the certificate of the webhook, or set its failurePolicy to Ignore.",
  quota: "Raise secrets in the quota, or exclude the namespace in secretcast.io/to of the source.",
  missingRight:
    "Apply the ClusterRole of this version. The cause names a namespace if it is not the one of the copy.",
  limitRange:
    "Raise the bound. Kubernetes has no limit range for Secrets, so another component applies this one.",
  finalizer: "A webhook adds finalizers to a Secret that is being deleted. Change the webhook.",
  invalid:
    "Correct the field on the source. Its data does not fit its type, or a copied label is invalid.",
  tooLarge: "Shrink the Secret, or choose fewer keys.",
  terminating: "Nothing.",
  credentials: "Check that the token of the pod is mounted and renewed.",
  throttled:
    "Nothing, if it ends by itself. Otherwise find the client that overloads the API server, or lower --concurrency.",
  deadline:
    "Check the latency of the API server and its webhooks. A webhook with timeoutSeconds of 10 or more is cut off unnamed: kubectl get validatingwebhookconfigurations,mutatingwebhookconfigurations -o yaml.",
  connection:
    "Check the API server and the network to it. secretcast continues by itself when they are back.",
  server: "Read the log of the API server, and check etcd.",
  malformed: "Check for a proxy that answers instead of the API server.",
  unexpected: "Report it as a bug with that line.",
  withheld: "The message matches no known pattern. Read it with kubectl apply --dry-run=server.",
};
