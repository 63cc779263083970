// When a source that is not there counts as gone: absent for the grace, and the API server, asked live,
// says so too. And when anything may end: its place has been unwanted for the grace, whatever the
// reason, and the objects from which that follows are what the cache shows.
import { type Settings, type SourceSecret } from "../model/cluster.ts";
import type { Pass } from "./plan-builder.ts";
import { versionOf } from "../state/questions.ts";
import type { Standing } from "../desired/sources.ts";
import type { Target } from "../desired/targets.ts";
import type { Vanished, Question } from "../model/verdicts.ts";
import { type Ref, refText } from "../annotations/names.ts";

/** Why something has no reason to be any more. */
export type Lapse = {
  readonly cause: "unwanted" | "gone";
  readonly reason: string;
  /** The objects that say so. */
  readonly follows: readonly Question[];
  /** Of cause `gone`: the source, and when (ms, monotonic) it has been absent for long enough. */
  readonly vanished?: Vanished;
  readonly absentUntil?: number;
};

/** The source `ref` of this UID is not there; `standing`: who is. */
export function gone(
  pass: Pass,
  settings: Settings,
  ref: Ref,
  uid: string,
  standing: Standing,
  reason: string,
): Lapse {
  const key = `${refText(ref)} ${uid}`;
  const since = pass.memory.absent.of(key, pass.now);
  return {
    cause: "gone",
    reason,
    follows: [sourceQuestion(ref, shownAt(standing))],
    vanished: { key, since, seen: pass.memory.hasSeen(uid) },
    absentUntil: since + settings.deleteGraceMs,
  };
}

function shownAt(standing: Standing): Shown {
  if (standing.kind === "entry") return standing.entry.source;
  return standing.kind === "silent" ? standing : undefined;
}

type Shown = Pick<SourceSecret, "uid" | "resourceVersion"> | undefined;

export function sourceQuestion({ namespace, name }: Ref, shown: Shown): Question {
  return { kind: "secret", ref: { namespace, name }, shown: versionOf(shown) };
}

export function namespaceQuestion({ name, namespace }: Target): Question {
  return {
    kind: "namespace",
    ref: { namespace: name, name: "" },
    shown: versionOf(namespace),
  };
}

/** What keeps something from ending now; a `verdict` only where it is not the ending's own. */
export type Stay = {
  readonly verdict?: "frozen";
  readonly reason: string;
  readonly dueAt?: number;
};

/** Of a lapse at a place that nobody else wants: the whole grace counts. */
export function stayOf(pass: Pass, settings: Settings, place: Ref, lapse: Lapse): Stay | undefined {
  const unwantedSince = pass.memory.unwanted.of(refText(place), pass.now);
  const until = Math.max(unwantedSince + settings.deleteGraceMs, lapse.absentUntil ?? 0);
  return stayUntil(pass, settings, lapse, until);
}

/** Of a lapse at a place that another source takes over: only an absent source is waited for. */
export function stayOfHandover(pass: Pass, settings: Settings, lapse: Lapse): Stay | undefined {
  return stayUntil(pass, settings, lapse, lapse.absentUntil ?? 0);
}

function stayUntil(pass: Pass, settings: Settings, lapse: Lapse, until: number): Stay | undefined {
  const { reason, follows } = lapse;
  if (until > pass.now) {
    const seconds = settings.deleteGraceMs / 1000;
    return { reason: `${reason}; it ends when that has been so for ${seconds}s`, dueAt: until };
  }
  return unconfirmed(pass, reason, follows);
}

/** `freshMs`: how old the API server's answer may be. */
export function unconfirmed(
  pass: Pass,
  reason: string,
  follows: readonly Question[],
  freshMs?: number,
): Stay | undefined {
  const reply = pass.confirm(follows, freshMs);
  switch (reply.kind) {
    case "confirmed":
      return undefined;
    case "asked":
      return { reason: `${reason}; the API server is asked whether it is so` };
    case "unreadable": {
      const dueAt = reply.until === undefined ? {} : { dueAt: reply.until };
      return { verdict: "frozen", reason: `${reason}, but ${reply.reason}`, ...dueAt };
    }
  }
}
