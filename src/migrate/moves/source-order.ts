// Orders the sources' namespaces for --source-namespaces. When two sources want one place, the source with
// the existing copy must come first.
import type { JudgedCopy, Reach } from "./judge-copies.ts";
import type { MovedSource } from "./moved-source.ts";
import { publishingEntry } from "./source-namespaces.ts";
import { refText } from "../../text/names.ts";

type Order = { readonly namespaces: readonly string[]; readonly problems: readonly string[] };

export function sourceOrder(
  sources: readonly MovedSource[],
  copies: readonly (JudgedCopy & { readonly moved: MovedSource | undefined })[],
  reaches: Reach,
  present: readonly string[],
): Order {
  const moving = sources.filter(({ write }) => write !== "refused");
  // Sources in the list may be in any namespace and always come first.
  const annotated = moving.filter(({ entry }) => !entry);
  const names = [...new Set(annotated.map(({ place }) => place.namespace))];
  // Existing entries keep their order, and come first where no other order is required.
  const rank = (name: string): number => publishingEntry(present, name) ?? present.length;
  names.sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1));
  const after = new Map(names.map((name) => [name, new Set<string>()]));
  const byName = Map.groupBy(moving, ({ old: { kind, copyName } }) => `${kind} ${copyName}`);
  const contests: string[] = [];
  const taken: string[] = [];
  const overtaken: string[] = [];
  for (const { object, moved, state } of copies) {
    if (!moved || (state !== "adoptable" && state !== "adopted")) continue;
    for (const other of byName.get(`${object.kind} ${object.name}`) ?? []) {
      if (other === moved || other.place.namespace === moved.place.namespace) continue;
      if (moved.entry || reaches(other.old, "push", object.namespace) !== true) continue;
      if (other.entry) taken.push(refText(object));
      after.get(other.place.namespace)?.add(moved.place.namespace);
      contests.push(refText(object));
      const [first, second] = [rank(other.place.namespace), rank(moved.place.namespace)];
      if (first < second && second < present.length) overtaken.push(refText(object));
    }
  }
  const left = new Set(names);
  const ordered = new Set<string>();
  while (left.size > 0) {
    const next = [...left].find((name) =>
      [...(after.get(name) ?? [])].every((before) => ordered.has(before)),
    );
    if (next === undefined) {
      const problem = `no order of --source-namespaces lets each source keep the copies it has: ${contests.slice(0, 5).join(", ")}`;
      return { namespaces: [...ordered, ...left], problems: [problem] };
    }
    left.delete(next);
    ordered.add(next);
  }
  const problems: string[] = [];
  if (overtaken.length > 0)
    problems.push(
      `the order of the controller's --source-namespaces gives ${overtaken.slice(0, 5).join(", ")} to another source: change the order of its entries`,
    );
  if (taken.length === 0) return { namespaces: [...ordered], problems };
  problems.push(
    `the source list comes first, so that its sources take over ${taken.slice(0, 5).join(", ")}: do without --by-list`,
  );
  return { namespaces: [...ordered], problems };
}
