// Pulling Secrets: filled from a source that allows it, through its `keys` and then through their own.
// It is its owner's object: never deleted, entries of its own survive; what we filled is recorded and
// taken out when consent or source goes. To its owner there is one reason for both.
import { going } from "./absent.ts";
import type { Desk } from "./desk.ts";
import { SecretData } from "./data.ts";
import { filterKeys, recordOf } from "./keys.ts";
import { problemText, refText, type PullSecret, type Ref } from "./model.ts";
import { requires } from "./replica.ts";
import type { Entry, Standing } from "./sources.ts";
import { covers, type Target } from "./targets.ts";
import type { Content, Fill } from "./verdicts.ts";

function noConsent(from: Ref): string {
  return `there is no source ${refText(from)}, or it does not allow this namespace`;
}

export function judgePull(desk: Desk, pull: PullSecret, target: Target): void {
  const { from } = pull;
  const problem = pull.problems[0];
  if (from === undefined || problem) {
    const reason = problem ? problemText(problem) : "";
    note(desk, pull, from ?? pull, "frozen", reason);
  } else if (pull.deleting) note(desk, pull, from, "wait", "it is being deleted");
  else if (target.excluded !== undefined) {
    note(desk, pull, from, isFilled(pull) ? "frozen" : "conflict", target.excluded);
  } else judgeStanding(desk, pull, from, target, desk.sources.standing(from));
}

type Noted = "frozen" | "wait" | "conflict" | "paused" | "current";

function note(
  desk: Desk,
  pull: PullSecret,
  source: Ref,
  verdict: Noted,
  reason: string,
  dueAt?: number,
): void {
  const place = { namespace: pull.namespace, name: pull.name };
  const due = dueAt === undefined ? {} : { dueAt };
  desk.pass.note(desk.pass.orphans, { verdict, place, source, reason, pulling: true, ...due });
}

function isFilled(pull: PullSecret): boolean {
  return pull.pulledKeys.length > 0;
}

function judgeStanding(
  desk: Desk,
  pull: PullSecret,
  from: Ref,
  target: Target,
  standing: Standing,
): void {
  switch (standing.kind) {
    case "entry":
      judgeEntry(desk, pull, from, target, standing.entry);
      return;
    case "frozen":
      if (isFilled(pull)) note(desk, pull, from, "frozen", standing.reason);
      else note(desk, pull, from, "conflict", noConsent(from));
      return;
    case "unsettled":
      note(desk, pull, from, "wait", `source ${refText(from)} has just arrived`);
      return;
    case "silent":
      if (standing.uid === pull.sourceUid) end(desk, pull, from, target);
      else judgeAbsent(desk, pull, from, target);
      return;
    case "absent":
      judgeAbsent(desk, pull, from, target);
  }
}

function judgeEntry(desk: Desk, pull: PullSecret, from: Ref, target: Target, entry: Entry): void {
  const { source, content, frozen } = entry;
  const mine = source.uid === pull.sourceUid;
  if (frozen !== undefined || content === undefined) {
    if (isFilled(pull) && mine) note(desk, pull, from, "frozen", frozen ?? "");
    else note(desk, pull, from, "conflict", noConsent(from));
    return;
  }
  const { pull: allowed, paused } = source.rule;
  const allows = allowed !== undefined && covers(allowed, target.namespace);
  if (allows && paused) note(desk, pull, from, "paused", `source ${entry.text} is paused`);
  else if (allows) fillFrom(desk, pull, from, target, content);
  else if (mine && paused) note(desk, pull, from, "paused", `source ${entry.text} is paused`);
  else if (mine) end(desk, pull, from, target);
  else judgeAbsent(desk, pull, from, target);
}

// What it was filled from is not there any more: gone, or `from` names another source now.
function judgeAbsent(desk: Desk, pull: PullSecret, from: Ref, target: Target): void {
  if (!isFilled(pull)) {
    note(desk, pull, from, "conflict", noConsent(from));
    return;
  }
  const state = going(desk.pass, desk.settings, { source: from, uid: pull.sourceUid ?? "" });
  switch (state.kind) {
    case "grace":
      note(desk, pull, from, "wait", state.reason, state.dueAt);
      return;
    case "unreadable":
      note(desk, pull, from, "frozen", state.reason, state.dueAt);
      return;
    case "gone":
      end(desk, pull, from, target, state);
  }
}

type Gone = Extract<ReturnType<typeof going>, { kind: "gone" }>;

function end(desk: Desk, pull: PullSecret, source: Ref, target: Target, gone?: Gone): void {
  const reason = noConsent(source);
  if (!isFilled(pull) || pull.onDelete === "keep") {
    note(desk, pull, source, "conflict", reason);
    return;
  }
  const fill = emptied(pull, pull.pulledKeys, recordOf([]), undefined);
  desk.endings.addPull({
    pull,
    source,
    fill,
    tally: desk.pass.orphans,
    order: target.order,
    cause: gone ? "gone" : "unwanted",
    reason,
    confirm: gone?.confirm,
    vanished: gone?.vanished,
  });
}

function fillFrom(desk: Desk, pull: PullSecret, from: Ref, target: Target, content: Content): void {
  const outcome = filling(pull, content);
  if (typeof outcome === "string") {
    note(desk, pull, from, "conflict", outcome);
    return;
  }
  const { fill, shadowed } = outcome;
  const { source, replica } = content;
  const place = { namespace: pull.namespace, name: pull.name };
  const inputs = `${source.uid} ${replica.fingerprint}`;
  const sameFill = desk.pass.memory.pairs.lastFill(refText(place)) === inputs;
  if (fill === undefined) {
    if (shadowed === undefined) desk.pass.orphans.current++;
    else note(desk, pull, from, "conflict", shadowed);
    return;
  }
  const sameVersion =
    pull.sourceUid === source.uid && pull.sourceVersion === source.resourceVersion;
  const edited = sameFill || (isFilled(pull) && sameVersion);
  const action = {
    kind: "fill",
    place,
    source: from,
    cause: edited ? "edited" : isFilled(pull) ? "changed" : "new",
    reason: "its entries are not the source's",
    inputs,
    target: pull,
    fill,
  } as const;
  desk.pass.propose(desk.pass.orphans, "update", action, target.order);
}

type Filling = { readonly fill: Fill | undefined; readonly shadowed: string | undefined };

// A pulling Secret is compared entry by entry; the answer holds for these two versions.
const known = new WeakMap<
  PullSecret,
  { readonly content: Content["replica"]; readonly outcome: Filling | string }
>();

function filling(pull: PullSecret, content: Content): Filling | string {
  const before = known.get(pull);
  if (before?.content === content.replica) return before.outcome;
  const outcome = compare(pull, content);
  known.set(pull, { content: content.replica, outcome });
  return outcome;
}

function compare(pull: PullSecret, { source, replica }: Content): Filling | string {
  const filtered = filterKeys(pull.keys, replica.data.reveal());
  if (!filtered.ok) return problemText({ annotation: "secretcast.io/keys", ...filtered.fault });
  const own = pull.data.reveal();
  const ours = new Set(pull.pulledKeys);
  const set = recordOf<string>([]);
  const keys: string[] = [];
  const kept: string[] = [];
  for (const [key, value] of Object.entries(filtered.value)) {
    const present = Object.hasOwn(own, key) ? own[key] : undefined;
    const free = present === undefined || ours.has(key) || requires(pull.type, key);
    if (present !== value && !free) {
      kept.push(key);
      continue;
    }
    keys.push(key);
    if (present !== value) set[key] = value;
  }
  const gone = pull.pulledKeys.filter((key) => !keys.includes(key) && !kept.includes(key));
  const version = { sourceUid: source.uid, sourceVersion: source.resourceVersion };
  const record = keys.length > 0 ? { keys: keys.toSorted(), ...version } : undefined;
  const shadowed =
    kept.length > 0
      ? `entries of its own are where the source has some: ${kept.join(", ")}`
      : undefined;
  const fill = emptied(pull, gone, set, record);
  const recorded = pull.pulledKeys.toSorted().join(",") === (record?.keys ?? []).join(",");
  const sameSource = record === undefined || pull.sourceUid === source.uid;
  const changes = fill.set.keys().length + fill.remove.length;
  if (changes === 0 && recorded && sameSource) return { fill: undefined, shadowed };
  if (changes > 0 && pull.immutable) return "it is immutable and cannot be filled";
  return { fill, shadowed };
}

// Takes `gone` out. What the type requires cannot be taken out and is left as an empty shell.
function emptied(
  pull: PullSecret,
  gone: readonly string[],
  set: Record<string, string>,
  record: Fill["record"],
): Fill {
  const own = pull.data.reveal();
  const remove: string[] = [];
  for (const key of gone) {
    if (!Object.hasOwn(own, key)) continue;
    if (requires(pull.type, key)) set[key] = shell(pull.type);
    else remove.push(key);
  }
  return { set: new SecretData(set), remove, record };
}

const EMPTY_JSON = "e30="; // {}
const NEWLINE = "Cg==";

function shell(type: string): string {
  if (type === "kubernetes.io/ssh-auth") return NEWLINE;
  return type.startsWith("kubernetes.io/docker") ? EMPTY_JSON : "";
}
