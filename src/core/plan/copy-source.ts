// What the source that a copy names says of the copy's place: it is served, it is held as it is, or
// the claim to it has lapsed.
import { consents } from "./consent.ts";
import { gone, namespaceQuestion, sourceQuestion, type Lapse } from "./removal-conditions.ts";
import type { Desk } from "./plan-context.ts";
import { type CopySecret } from "../model/cluster.ts";
import { wants, type Contender, type Entry, type Standing } from "../desired/sources.ts";
import { wantOf, type Target } from "../desired/targets.ts";
import { problemText, type OnDelete } from "../annotations/rules.ts";
import { refText } from "../annotations/names.ts";

/** What the copy's source says: the place is still taken, or it has lapsed. */
export type Claim =
  | { readonly kind: "serve"; readonly contender: Contender }
  | {
      readonly kind: "hold";
      readonly verdict: "paused" | "frozen" | "wait";
      readonly reason: string;
    }
  | { readonly kind: "lapsed"; readonly onDelete: OnDelete; readonly lapse: Lapse };

export function claimOf(desk: Desk, copy: CopySecret, target: Target, standing: Standing): Claim {
  if (copy.unknownMark !== undefined) {
    const reason = `it carries ${copy.unknownMark}, which this version does not know: a newer one made it`;
    return hold("frozen", reason);
  }
  if (target.excluded !== undefined) return hold("frozen", target.excluded);
  if (target.accept.kind === "problem") {
    return hold("frozen", `namespace ${target.name}: ${problemText(target.accept.problem)}`);
  }
  switch (standing.kind) {
    case "entry":
      return claimOfEntry(desk, copy, target, standing.entry, standing);
    case "frozen":
      return hold("frozen", standing.reason);
    case "unsettled":
      return hold("wait", `source ${refText(copy.source)} has just arrived`);
    case "silent": {
      if (standing.uid !== copy.sourceUid) return claimOfAbsent(desk, copy, standing);
      const reason = `${refText(copy.source)} carries neither to nor to-selector any more`;
      return lapsed(copy.onDelete, reason, [sourceQuestion(copy.source, standing)]);
    }
    case "absent":
      return claimOfAbsent(desk, copy, standing);
  }
}

function claimOfEntry(
  desk: Desk,
  copy: CopySecret,
  target: Target,
  entry: Entry,
  standing: Extract<Standing, { kind: "entry" }>,
): Claim {
  const { source, text, frozen } = entry;
  const { contender } = standing;
  if (frozen !== undefined) return hold("frozen", frozen);
  if (source.rule.paused) return hold("paused", `source ${text} is paused`);
  const named = source.rule.copyName === copy.name;
  if (contender && named && (wants(contender, target) || keeps(desk, contender, copy, target))) {
    return { kind: "serve", contender };
  }
  const want = contender && named ? wantOf(contender, target) : "globs";
  // Another object under the source's old name says nothing of the source's copies.
  if (source.uid !== copy.sourceUid) return claimOfAbsent(desk, copy, standing);
  const word = source.rule.onDelete ?? (source.rule.push ? "delete" : copy.onDelete);
  const asked = sourceQuestion(source, source);
  const follows =
    want === "declined" || want === "selector" ? [asked, namespaceQuestion(target)] : [asked];
  const reason =
    want === "declined"
      ? `namespace ${target.name} does not accept copies of ${text}`
      : `source ${text} no longer wants this place`;
  return lapsed(word, reason, follows);
}

// Under opt-in a namespace that says nothing keeps the copies that are there, and they are kept current.
function keeps({ pass }: Desk, { namespace, push }: Contender, copy: CopySecret, target: Target) {
  return (
    target.accept.kind === "kept" && namespace !== target.name && consents(pass, push, copy, target)
  );
}

function claimOfAbsent(desk: Desk, copy: CopySecret, standing: Standing): Claim {
  const { source, sourceUid, onDelete } = copy;
  const reason = `source ${refText(source)} is gone`;
  const lapse = gone(desk.pass, desk.settings, source, sourceUid, standing, reason);
  return { kind: "lapsed", onDelete, lapse };
}

function hold(verdict: "frozen" | "paused" | "wait", reason: string): Claim {
  return { kind: "hold", verdict, reason };
}

function lapsed(onDelete: OnDelete, reason: string, follows: Lapse["follows"]): Claim {
  return { kind: "lapsed", onDelete, lapse: { cause: "unwanted", reason, follows } };
}
