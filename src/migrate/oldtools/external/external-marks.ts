// Which Secrets External Secrets made out of Secrets of this cluster, and what proves it: the owner reference
// of an ExternalSecret that makes this name, or with creationPolicy Orphan both marks.
import { externalFault, GROUP, type ExternalObject, type ExternalRule } from "./external-rules.ts";
import type { OldObject, OldOwner } from "../old-objects.ts";
import type { OldMark, OldSource } from "../old-tool.ts";
import { notReady } from "../rule-targets.ts";
import { markOfOne } from "../secret-source.ts";

export const RECONCILE = "reconcile.external-secrets.io/";
const [MANAGED, CREATED_BY, DATA_HASH] = [
  `${RECONCILE}managed`,
  `${RECONCILE}created-by`,
  `${RECONCILE}data-hash`,
];

export function isMarked({ labels, annotations, owners }: OldObject): boolean {
  const marked = MANAGED in labels || CREATED_BY in labels || DATA_HASH in annotations;
  return marked || owners.some(isOwner);
}

export function isOwner({ kind, apiVersion }: OldOwner): boolean {
  return kind === "ExternalSecret" && apiVersion.startsWith(`${GROUP}/`);
}

/** Nothing for a Secret that comes from elsewhere. */
export function markOf(
  object: OldObject,
  claiming: readonly ExternalObject[],
  ofRule: ReadonlyMap<ExternalRule, OldSource>,
): readonly OldMark[] {
  const owner = object.owners.find(isOwner);
  const owning = claiming.filter(({ custom }) => custom.name === owner?.name);
  const candidates = owning.length > 0 ? owning : claiming;
  const isLeft = ({ rule }: ExternalObject): boolean => {
    const read = rule?.read;
    return read?.kind === "left" || (read?.kind === "refused" && !read.store);
  };
  if (candidates.length > 0 && candidates.every(isLeft)) return [];
  const sources = candidates.flatMap(({ rule }) => {
    const source = rule && ofRule.get(rule);
    return source ? [source] : [];
  });
  const [first] = candidates;
  const named = first?.rule?.title;
  if (!first || sources.length === 0) {
    const isUnmoved = first?.rule !== undefined && externalFault(first.rule) !== undefined;
    return [{ ...markOfOne(object, undefined, { named }), ofUnmovedRule: isUnmoved }];
  }
  const isStalled = candidates.every(({ custom }) => notReady(custom.fields) !== undefined);
  const mark = markOfOne(object, undefined, { named, doubt: doubtOf(object, first) });
  return [{ ...mark, sources, isStalled }];
}

function doubtOf(object: OldObject, { custom, rule, policy }: ExternalObject): string | undefined {
  if (custom.deleting || rule?.deleting)
    return "its rule is being deleted: somebody wanted its copies gone";
  const owner = object.owners.find(isOwner);
  if (owner) {
    const same = owner.name === custom.name && (owner.uid === custom.uid || custom.uid === "");
    return same
      ? undefined
      : "another ExternalSecret owns it, or one of the same name that was made again";
  }
  if (policy !== "Orphan") return "its ExternalSecret does not own it";
  const marked = MANAGED in object.labels && DATA_HASH in object.annotations;
  return marked ? undefined : "one of its two marks is gone";
}
