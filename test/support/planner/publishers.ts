// A cluster with two source namespaces, and what the tests of the planner's rules ask and change there.
import { whyOf } from "./why-of.ts";
import type { Plan } from "../../../src/controller/model/verdicts.ts";
import { Cluster, globs } from "./planner-cluster.ts";

export function cluster(
  namespaces: readonly string[] = ["shared", "other", "team-a", "team-b"],
): Cluster {
  return new Cluster({ sourceNamespaces: globs("shared,other") }).withNamespaces(...namespaces);
}

export function reasonAt(result: Plan, place: string, source?: string): string {
  const row = result.rows.find(
    (one) =>
      `${one.place.namespace}/${one.place.name}` === place &&
      (source === undefined || `${one.source.namespace}/${one.source.name}` === source),
  );
  return whyOf(row);
}
