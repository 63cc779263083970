// What the source that a copy names says of the copy's place: it is served, it is held as it is, or
// the claim to it has lapsed.
import { going } from "./absent.ts";
import type { Desk } from "./desk.ts";
import { problemText, refText, type CopySecret, type OnDelete } from "./model.ts";
import type { Contender, Entry, Standing } from "./sources.ts";
import { wantOf, type Target } from "./targets.ts";
import type { Confirm } from "./verdicts.ts";

/** Why the source that a copy names has no claim to the place any more. */
export type Lapse = {
  readonly cause: "unwanted" | "gone";
  readonly reason: string;
  readonly onDelete: OnDelete;
  readonly confirm: Confirm | undefined;
  readonly vanished: { readonly key: string; readonly since: number } | undefined;
};

/** What the copy's source says: the place is still taken, or it has lapsed. */
export type Claim =
  | { readonly kind: "serve"; readonly contender: Contender }
  | {
      readonly kind: "hold";
      readonly verdict: "paused" | "frozen" | "wait";
      readonly reason: string;
      readonly dueAt?: number;
    }
  | ({ readonly kind: "lapsed" } & Lapse);

export function claimOf(desk: Desk, copy: CopySecret, target: Target, standing: Standing): Claim {
  if (target.excluded !== undefined) return hold("frozen", target.excluded);
  if (target.accept.kind === "problem") {
    return hold("frozen", `namespace ${target.name}: ${problemText(target.accept.problem)}`);
  }
  switch (standing.kind) {
    case "entry":
      return claimOfEntry(desk, copy, target, standing.entry, standing.contender);
    case "frozen":
      return hold("frozen", standing.reason);
    case "unsettled":
      return hold("wait", `source ${refText(copy.source)} has just arrived`);
    case "silent": {
      if (standing.uid !== copy.sourceUid) return claimOfAbsent(desk, copy);
      const reason = `${refText(copy.source)} carries neither to nor to-selector any more`;
      return lapsed(reason, copy.onDelete);
    }
    case "absent":
      return claimOfAbsent(desk, copy);
  }
}

function claimOfEntry(
  desk: Desk,
  copy: CopySecret,
  target: Target,
  entry: Entry,
  contender: Contender | undefined,
): Claim {
  const { source, text, frozen } = entry;
  if (frozen !== undefined) return hold("frozen", frozen);
  if (source.rule.paused) return hold("paused", `source ${text} is paused`);
  const named = source.rule.copyName === copy.name;
  const want = contender && named ? wantOf(contender, target) : "globs";
  if (contender && want === "wanted") return { kind: "serve", contender };
  // Another object under the source's old name says nothing of the source's copies.
  if (source.uid !== copy.sourceUid) return claimOfAbsent(desk, copy);
  const word = source.rule.onDelete ?? (source.rule.push ? "delete" : copy.onDelete);
  if (want === "declined") {
    return lapsed(`namespace ${target.name} does not accept copies of ${text}`, word);
  }
  return lapsed(`source ${text} no longer wants this place`, word);
}

function claimOfAbsent(desk: Desk, copy: CopySecret): Claim {
  const confirm = { source: copy.source, uid: copy.sourceUid };
  const state = going(desk.pass, desk.settings, confirm);
  switch (state.kind) {
    case "grace":
      return { kind: "hold", verdict: "wait", reason: state.reason, dueAt: state.dueAt };
    case "unreadable":
      return { kind: "hold", verdict: "frozen", reason: state.reason, dueAt: state.dueAt };
    case "gone": {
      const reason = `source ${refText(copy.source)} is gone`;
      const { vanished } = state;
      return {
        kind: "lapsed",
        cause: "gone",
        reason,
        onDelete: copy.onDelete,
        confirm: state.confirm,
        vanished,
      };
    }
  }
}

function hold(verdict: "frozen" | "paused" | "wait", reason: string): Claim {
  return { kind: "hold", verdict, reason };
}

function lapsed(reason: string, onDelete: OnDelete): Claim {
  const none = undefined;
  return { kind: "lapsed", cause: "unwanted", reason, onDelete, confirm: none, vanished: none };
}
