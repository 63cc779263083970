// A cluster with two source namespaces, and what the tests of the planner's rules ask and change there.
import { whyOf } from "./why-of.ts";
import type { Plan } from "../../../src/controller/model/verdicts.ts";
import type { Texts } from "./raw-cluster.ts";
import { Cluster, globs } from "./planner-cluster.ts";

export function cluster(
  namespaces: readonly string[] = ["shared", "other", "team-a", "team-b"],
): Cluster {
  const made = new Cluster({ sourceNamespaces: globs("shared,other") });
  for (const name of namespaces) made.namespace(name);
  return made;
}

export function reasonAt(result: Plan, place: string, source?: string): string {
  const row = result.rows.find(
    (one) =>
      `${one.place.namespace}/${one.place.name}` === place &&
      (source === undefined || `${one.source.namespace}/${one.source.name}` === source),
  );
  return whyOf(row);
}

export function annotate(made: Cluster, place: string, words: Texts): void {
  made.edit(place, ({ metadata }) => {
    for (const [word, value] of Object.entries(words)) {
      metadata.annotations[`secretcast.io/${word}`] = value;
    }
  });
}
