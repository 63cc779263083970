// The last answer for a place: the planner's verdict from all rules together, with advice when the result
// may be unwanted.
import type { CachedObject } from "../../controller/model/cluster.ts";
import { adoptionHint, METRIC_STATE, type Row } from "../../controller/model/verdicts.ts";
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
  deleteObject,
  kubectlWord,
  showManagers,
  sourceWord,
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
const GOOD: readonly ExplainedVerdict[] = ["create", "current", "update", "replace", "adopt"];

export function verdictAnswer(found: Found): RuleAnswer {
  const { verdict, reason, pulling } = found;
  const usual = found.row?.hold === undefined ? RULES[verdict] : RULES.delete;
  const rule = pulling && verdict === "conflict" ? FILLABLE : usual;
  if (verdict === "unknown") return unreadAnswer(rule, reason);
  return GOOD.includes(verdict) ? holding(rule, reason) : failing(rule, reason, changeOf(found));
}

function changeOf(found: Found): string | undefined {
  const { kind, verdict, row, present, reason, source } = found;
  if (verdict === "conflict") return changeOfConflict(found);
  if (verdict === "unknown") return undefined;
  switch (METRIC_STATE[verdict]) {
    case "held":
      return row?.hold === undefined
        ? "name fewer namespaces, make it smaller, or start the controller with a larger --fanout-limit"
        : undefined;
    case "paused":
      return sourceWord({ ...source, kind, entry: found.entry }, "paused", undefined);
    case "frozen":
      if (present?.role === "copy" && present.unknownMark !== undefined)
        return `run the newer version, or let it be made anew: ${deleteObject(kind, present)}`;
      if (reason.includes("is not read (--namespaces)"))
        return `start the controller with ${source.namespace} among --namespaces, or, where nobody needs the copy: ${deleteObject(kind, found.place)}`;
      if (reason.includes("cannot be read"))
        return "secretcast check: it names the right that is missing";
      return undefined;
    case "failed":
      return row?.cause === undefined ? changeOfFight(found) : changeOfFailure(row.cause, found);
    case "current":
    case "pending":
    case "conflict":
    case undefined:
      return undefined;
  }
}

function changeOfConflict({
  kind,
  entry,
  place,
  source,
  present,
  row,
  reason,
}: Found): string | undefined {
  if (row?.pulling === true) return undefined;
  const other = `another name for its copies: ${sourceWord({ ...source, kind, entry }, "name", "NAME")}`;
  if (row?.winner) return other;
  if (present?.role === "source" || present?.role === "pull") return other;
  if (present?.role !== "unmanaged") return undefined;
  const text = refText(source);
  const takes = present.adopt?.source;
  if (reason === adoptionHint(kind, text) || takes === undefined || refText(takes) !== text)
    return `its owner gives it up, entries of its own are lost: ${annotateObject(kind, place, "adopt", text)}`;
  if (present.deleting) return undefined;
  const unknown = present.adopt?.unknownKey;
  if (unknown !== undefined)
    return `its owner takes it off: ${annotateKey(kind, place, unknown, undefined)}`;
  return `its owner gives it up: ${deleteObject(kind, place)}`;
}

/** Another client repeatedly changes the object, according to its managedFields. */
function changeOfFight({ kind, place, present }: Found): string {
  const manager = present?.role === "copy" ? present.changedBy : undefined;
  const client = manager === undefined ? "" : ` (field manager ${JSON.stringify(manager)})`;
  return `find the other client${client}, and stop it or take the place out of the source's targets: ${showManagers(kind, place)}`;
}

/** What to do about the cause, and how to end the back-off: with a change of the source. */
function changeOfFailure(cause: string, { kind, source }: Found): string {
  const touch = `kubectl annotate ${kubectlWord(kind)} -n ${source.namespace} ${source.name} --overwrite retried-at="$(date)"`;
  return `${WHAT_TO_DO[cause] ?? ""} Then try again at once: ${touch}`.trim();
}

/** For each cause of a failed write: what docs/operations.md says under "Why a write failed". */
export const WHAT_TO_DO: Readonly<Record<string, string>> = {
  policy:
    "Have the policy or its binding let Secrets labelled app.kubernetes.io/managed-by: secretcast through.",
  webhook:
    "Have the webhook let Secrets labelled app.kubernetes.io/managed-by: secretcast through. A replace needs sideEffects: None or NoneOnDryRun.",
  webhookUnreachable:
    "Mend the webhook's Deployment or certificate, or set its failurePolicy to Ignore.",
  quota: "Raise secrets in it, or take the namespace out of the source's to.",
  missingRight:
    "Apply the ClusterRole of this version. It names a namespace where that is not the place's.",
  limitRange: "Raise the bound. The API has none for Secrets: something on the way makes it one.",
  finalizer: "A webhook adds finalizers to a Secret that is being deleted: have it stop.",
  invalid:
    "Correct the field on the source: its data do not fit its type, or a copied label is no label.",
  tooLarge: "Shrink the Secret, or choose fewer keys.",
  terminating: "Nothing.",
  credentials: "See that the pod's token is mounted and renewed.",
  throttled: "Nothing, if it passes; else see what floods the API server, or lower --concurrency.",
  deadline:
    "See the API server's and the webhooks' latency. A webhook with timeoutSeconds of 10 or more is cut off unnamed: kubectl get validatingwebhookconfigurations,mutatingwebhookconfigurations -o yaml.",
  connection: "See the API server and the network to it. It goes on by itself when they are back.",
  server: "See its log, and etcd.",
  malformed: "See what stands between: a proxy answers in its place.",
  unexpected: "Report it as a bug with that line.",
  withheld: "The message is not one that is known: see it by kubectl apply --dry-run=server.",
};
