// Runs a random history on a cluster of plain objects.
import { NAMESPACES, SOURCE_NAMESPACES, TENANT, type History, type Step } from "./history.ts";
import { prefixed, type Texts } from "./raw-cluster.ts";
import { Cluster, globs } from "./planner-cluster.ts";

/** Runs the steps; after each sync `check` sees the cluster and its plan, before it is applied. */
export function live(history: History, check: (made: Cluster) => void = () => undefined): Cluster {
  const settings = {
    namespacePolicy: history.policy,
    deleteHoldMs: history.holdMs,
    sourceNamespaces: globs(SOURCE_NAMESPACES.join(",")),
  };
  const made = new Cluster(settings, history.objects);
  for (const [at, one] of NAMESPACES.entries()) made.namespace(one, {}, { tier: "gold" }, at);
  for (const one of history.steps) {
    if (one.kind === "pass") {
      made.now += one.ms;
      check(made);
      made.sync();
    } else take(made, one);
  }
  return made;
}

function take(made: Cluster, one: Exclude<Step, { kind: "pass" }>): void {
  switch (one.kind) {
    case "source": {
      const place = `${one.namespace}/${one.name}`;
      made.secret(place, one.words, {
        type: one.type,
        immutable: one.immutable,
        data: valuesOf(place),
        labels: { app: "x", "example.com/team": "y", owner: "helm" },
      });
      return;
    }
    case "stranger":
    case "pull":
      made.secret(`${one.namespace}/${one.name}`, one.words, { data: { own: "entry" } });
      return;
    case "forge": {
      const place = `${TENANT}/${one.name}`;
      const marks = {
        source: one.source,
        "source-uid": one.uid,
        "placed-at": place,
        "source-version": "1",
      };
      const labels = { "app.kubernetes.io/managed-by": "secretcast" };
      made.secret(place, { ...marks, ...one.words }, { labels, data: { own: "forged" } });
      return;
    }
    case "namespace": {
      const raw = made.namespaces.get(one.namespace) ?? made.namespace(one.namespace);
      raw.metadata.annotations = prefixed(one.words);
      raw.metadata.labels = { tier: one.tier };
      raw.status.phase = one.gone ? "Terminating" : "Active";
      return;
    }
    case "delete":
      made.delete(`${one.namespace}/${one.name}`);
      return;
    case "edit":
    case "strip":
    case "freeze":
    case "doom":
      change(made, one);
  }
}

function change(made: Cluster, one: Extract<Step, { namespace: string; name: string }>): void {
  const place = `${one.namespace}/${one.name}`;
  if (!made.secrets.has(place)) return;
  made.edit(place, (secret) => {
    if (one.kind === "edit") secret.data["password"] = "ZWRpdGVk";
    else if (one.kind === "strip") delete secret.metadata.annotations["secretcast.io/placed-at"];
    else if (one.kind === "freeze") secret.immutable = true;
    else secret.metadata.deletionTimestamp = "2026-01-02T00:00:00Z";
  });
}

/** Data that tells which source it came from. */
function valuesOf(source: string): Texts {
  return { user: `user of ${source}`, password: `password of ${source}` };
}
