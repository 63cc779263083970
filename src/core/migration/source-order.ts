// In which order --source-namespaces has to name the namespaces of the sources, so that of two sources
// that want one place the one keeps it whose copy is there.
import type { JudgedCopy, Reach } from "./judge-copies.ts";
import type { MovedSource } from "./moved-source.ts";
import { refText } from "../annotations/names.ts";

type Order = { readonly namespaces: readonly string[]; readonly problems: readonly string[] };

export function sourceOrder(
  sources: readonly MovedSource[],
  copies: readonly (JudgedCopy & { readonly moved: MovedSource | undefined })[],
  reaches: Reach,
): Order {
  const moving = sources.filter(({ write }) => write !== "refused");
  // What the list names may lie anywhere, and comes first.
  const annotated = moving.filter(({ entry }) => !entry);
  const names = [...new Set(annotated.map(({ place }) => place.namespace))].toSorted();
  const after = new Map(names.map((name) => [name, new Set<string>()]));
  const byName = Map.groupBy(moving, ({ old }) => old.copyName);
  const contests: string[] = [];
  const taken: string[] = [];
  for (const { object, moved, state } of copies) {
    if (!moved || (state !== "adoptable" && state !== "adopted")) continue;
    for (const other of byName.get(object.name) ?? []) {
      if (other === moved || other.place.namespace === moved.place.namespace) continue;
      if (moved.entry || reaches(other.old, "push", object.namespace) !== true) continue;
      if (other.entry) taken.push(refText(object));
      after.get(other.place.namespace)?.add(moved.place.namespace);
      contests.push(refText(object));
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
  if (taken.length === 0) return { namespaces: [...ordered], problems: [] };
  const problem = `the source list comes first, so that its sources take over ${taken.slice(0, 5).join(", ")}: do without --by-list`;
  return { namespaces: [...ordered], problems: [problem] };
}
