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
  const names = [...new Set(moving.map(({ place }) => place.namespace))].toSorted();
  const after = new Map(names.map((name) => [name, new Set<string>()]));
  const byName = Map.groupBy(moving, ({ old }) => old.copyName);
  const contests: string[] = [];
  for (const { object, moved, state } of copies) {
    if (!moved || (state !== "adoptable" && state !== "adopted")) continue;
    for (const other of byName.get(object.name) ?? []) {
      if (other === moved || other.place.namespace === moved.place.namespace) continue;
      if (reaches(other.old, "push", object.namespace) !== true) continue;
      after.get(other.place.namespace)?.add(moved.place.namespace);
      contests.push(refText(object));
    }
  }
  const ordered: string[] = [];
  while (ordered.length < names.length) {
    const left = names.filter((name) => !ordered.includes(name));
    const next = left.find((name) =>
      [...(after.get(name) ?? [])].every((before) => ordered.includes(before)),
    );
    if (next === undefined) {
      const problem = `no order of --source-namespaces lets each source keep the copies it has: ${contests.slice(0, 5).join(", ")}`;
      return { namespaces: [...ordered, ...left], problems: [problem] };
    }
    ordered.push(next);
  }
  return { namespaces: ordered, problems: [] };
}
