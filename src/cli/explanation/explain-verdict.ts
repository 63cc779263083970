// The last answer for a place: the planner's verdict from all rules together, with advice when the result
// may be unwanted.
import type { Reason, ReasonCode } from "../../controller/model/reasons.ts";
import type { CachedObject } from "../../controller/model/cluster.ts";
import type { Row } from "../../controller/model/verdicts.ts";
import type { ObjectKind } from "../../controller/model/kinds.ts";
import { annotationKey } from "../../controller/annotations/vocabulary.ts";
import { type Ref, refText } from "../../text/names.ts";
import {
  failing,
  holding,
  unreadAnswer,
  type ExplainedVerdict,
  type PlaceAnswer,
  type RuleAnswer,
} from "./answer.ts";
import { annotate, annotateSource, kubectlOn, type EditableSource } from "./commands.ts";

/** What the advice follows from. */
export type Found = {
  readonly kind: ObjectKind;
  readonly place: Ref;
  readonly source: EditableSource;
  readonly present: CachedObject | undefined;
  /** A row of the plan, or what the planner decides of a place without one. */
  readonly planned: Pick<Row, "reason" | "failure" | "removal">;
};

const THERE = "what is there";
const RULES: Readonly<Record<ExplainedVerdict, string>> = {
  create: THERE,
  current: THERE,
  update: THERE,
  replace: THERE,
  adopt: THERE,
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

/** `otherwise`: the advice if the reason has none. */
export function verdictAnswer(
  { verdict, reason, pulling }: Pick<PlaceAnswer, "verdict" | "reason" | "pulling">,
  found: Found,
  otherwise: string | undefined,
): RuleAnswer {
  const usual = found.planned.removal?.hold === undefined ? RULES[verdict] : RULES.delete;
  const rule = pulling && verdict === "conflict" ? FILLABLE : usual;
  if (verdict === "unknown") return unreadAnswer(rule, reason);
  if (rule === THERE) return holding(rule, reason);
  return failing(rule, reason, adviceOf(found) ?? otherwise);
}

/** By the first of the planner's reasons that has advice, or by the cause of the failed write. */
function adviceOf(found: Found): string | undefined {
  const { reason, failure } = found.planned;
  for (let each: Reason | undefined = reason; each; each = each.next) {
    const advice = ADVICE[each.code];
    if (advice) return advice(found, each);
  }
  return failure?.cause === undefined ? undefined : adviceOnFailure(failure.cause, found);
}

type Advice = (found: Found, reason: Reason) => string | undefined;

const offer: Advice = ({ kind, place, source }) =>
  `its owner gives it up, entries of its own are lost: ${annotate(kind, place, { [annotationKey("adopt")]: refText(source) })}`;
const giveUp: Advice = ({ kind, place }) =>
  `its owner gives it up: ${kubectlOn("delete", kind, place)}`;
const rename: Advice = ({ source }) =>
  `another name for its copies: ${annotateSource(source, "name", "NAME")}`;
const check: Advice = () => "secretcast check: it names the right that is missing";
const MANAGERS = `--show-managed-fields -o jsonpath='{range .metadata.managedFields[*]}{.time} {.manager}{"\\n"}{end}'`;
const stopOther: Advice = ({ kind, place, present }) => {
  const manager = present?.role === "copy" ? present.template.changedBy : undefined;
  const client = manager === undefined ? "" : ` (field manager ${JSON.stringify(manager)})`;
  return `find the other client${client}, and stop it or take the place out of the source's targets: ${kubectlOn("get", kind, place)} ${MANAGERS}`;
};

/** What to do about a reason. One that is not here is about a rule that has its own advice, or ends by itself. */
const ADVICE: Readonly<Partial<Record<ReasonCode, Advice>>> = {
  ObjectInTheWay: offer,
  MovedCopyInTheWay: offer,
  AdoptInvalid: offer,
  AdoptOther: offer,
  AdoptUnknownKey: ({ kind, place }, { params: { key } }) =>
    key === undefined
      ? undefined
      : `its owner takes it off: ${annotate(kind, place, { [String(key)]: undefined })}`,
  AdoptTypeDiffers: giveUp,
  AdoptImmutable: giveUp,
  SourceInTheWay: rename,
  PullingObjectInTheWay: rename,
  OtherSourceFirst: rename,
  PlaceReserved: rename,
  PlaceTaken: rename,
  TakeoverPending: rename,
  TakeoverFailed: rename,
  UnknownMark: ({ kind, place }) =>
    `run the newer version, or let it be made anew: ${kubectlOn("delete", kind, place)}`,
  SourceNotRead: ({ kind, place, source }) =>
    `start the controller with ${source.namespace} among --namespaces, or, where nobody needs the copy: ${kubectlOn("delete", kind, place)}`,
  SourceUnreadable: check,
  NameUnreadable: check,
  ListForbidden: check,
  NotConfirmed: check,
  FanoutLimit: () =>
    "name fewer namespaces, make it smaller, or start the controller with a larger --fanout-limit",
  ChangedByWebhook: stopOther,
  ChangedRepeatedly: stopOther,
};

/** What to do about the cause, and how to end the back-off, if a change of the source ends it. */
function adviceOnFailure(cause: string, { kind, source }: Found): string {
  const advice = WHAT_TO_DO[cause] ?? "";
  if (ENDS_BY_ITSELF.has(cause)) return advice;
  const again = `${kubectlOn("annotate", kind, source)} --overwrite retried-at="$(date)"`;
  return `${advice} Then try again at once: ${again}`.trim();
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
