// Clusters in which something is to be explained, and the explanation in lines.
import { explain, type Explanation } from "../../../src/cli/explanation/explain.ts";
import { refText } from "../../../src/text/names.ts";
import type { FormerRule } from "../../../src/controller/model/former-rule.ts";
import { FormerRules } from "../../../src/controller/state/former-rules.ts";
import type { ClusterState, PlannerSettings } from "../../../src/controller/model/cluster.ts";
import { Cluster, globs } from "./planner-cluster.ts";
import type { Given, Texts } from "./raw-cluster.ts";

export function cluster(annotations: Texts): Cluster {
  const made = new Cluster().withNamespaces("shared");
  made.namespace("team-a", {}, { tier: "gold" });
  made.namespace("team-b", { accept: "false" }, { tier: "tin" });
  made.namespace("kube-system");
  made.secret("shared/one", annotations);
  return made;
}

export function ask(
  made: Cluster,
  name: string,
  namespace?: string,
  formerRules: readonly FormerRule[] = [],
): Explanation {
  const [inNamespace = "", own = ""] = name.split("/");
  const subject = { namespace: inNamespace, name: own };
  const options = { namespace, formerRules };
  return explain(made.clusterState(), made.settings, made.plan(), subject, options);
}

/** What a controller remembers that has planned this cluster. Each call is a sync. */
export function controllerOf(made: Cluster): () => readonly FormerRule[] {
  const live: ClusterState = {
    kind: made.kind,
    get namespaces() {
      return made.clusterState().namespaces;
    },
    objectsIn: (namespace) => made.clusterState().objectsIn(namespace),
    get sources() {
      return made.clusterState().sources;
    },
    pulls: [],
    pullableDigestOf: () => undefined,
  };
  const remembered = new FormerRules([live]);
  return () => {
    remembered.onSync();
    for (const _ of remembered.onPlan(made.plan(), { settled: true }));
    return [...remembered.waiting()];
  };
}

/** `VERDICT RULE: ANSWER`, and `$ CHANGE` where there is one. */
export function decided(
  explanation: Explanation,
  namespace: string,
  source?: string,
): readonly string[] {
  const place = explanation.places.find(
    (one) =>
      one.place.namespace === namespace && (source === undefined || refText(one.source) === source),
  );
  if (!place) return ["no such place"];
  const { rule, answer, change } = place.decided;
  return [`${place.verdict} ${rule}: ${answer}`, ...(change === undefined ? [] : [`$ ${change}`])];
}

/** The rules about the object itself that say no. */
export function refused({ answers }: Explanation): readonly string[] {
  return answers.flatMap(({ holds, rule, answer, change }) =>
    holds ? [] : [`${rule}: ${answer}`, ...(change === undefined ? [] : [`$ ${change}`])],
  );
}

export function settled(
  annotations: Texts,
  then: (made: Cluster) => void = () => undefined,
): Cluster {
  const made = cluster(annotations);
  made.settle();
  then(made);
  return made;
}

export function leaving(made: Cluster, place: string): void {
  made.edit(place, ({ metadata }) => {
    metadata.deletionTimestamp = "2026-01-02T00:00:00Z";
    Object.assign(metadata, { finalizers: ["example.com/hold"] });
  });
}

export function withOther(annotations: Texts, other: Texts, given: Given = {}): Cluster {
  const made = cluster(annotations);
  made.secret("team-a/one", other, given);
  return made;
}

export function inTheWayOfSource(): Cluster {
  const made = cluster({ to: "team-*" });
  configure(made, { sourceNamespaces: globs("shared,team-a") });
  made.secret("team-a/one", { to: "shop" });
  return made;
}

export function uncached(): Cluster {
  const made = cluster({ to: "team-*" });
  made.plan();
  made.memory.places.uncached("team-a/one", made.now, 0.5, "no right to get secrets");
  return made;
}

export function rivals(then: (made: Cluster) => void = () => undefined): Cluster {
  const made = cluster({ to: "team-*" });
  then(made);
  made.secret("shared/two", { to: "team-*", name: "one" }, { at: 10 });
  return made;
}

export function failingTakeover(): Cluster {
  const made = cluster({});
  configure(made, { sourceNamespaces: globs("shared,team-b") });
  made.secret("team-b/one", { to: "team-a" });
  made.settle();
  made.secret("shared/one", { to: "team-a" });
  for (const action of made.due().actions) made.memory.failed(action, FAILURE, made.now, 0.5);
  return made;
}

export function withNamespace(name: string, annotations: Texts = {}): Cluster {
  const made = cluster({ to: "*" });
  made.namespace(name, annotations);
  return made;
}

export function configure(made: Cluster, changes: Partial<PlannerSettings>): void {
  made.settings = { ...made.settings, ...changes };
  made.reread();
}

export function configured(changes: Partial<PlannerSettings>): Cluster {
  const made = cluster({ to: "*" });
  configure(made, changes);
  return made;
}

export function unlisted(): Cluster {
  const targets = new Set(["team-a"]);
  const made = configured({ scope: { targets, watched: new Set(["shared", "team-a"]) } });
  made.namespaces.delete("team-b");
  return made;
}

export function going(): Cluster {
  const made = cluster({ to: "*" });
  made.namespace("team-a").status.phase = "Terminating";
  return made;
}

export function overdue(change: (made: Cluster) => void): Cluster {
  const made = settled({ to: "*" }, change);
  made.plan();
  made.now += made.settings.deleteGraceMs;
  return made;
}

export function due(change: (made: Cluster) => void): Cluster {
  const made = settled({ to: "*" }, change);
  made.due();
  return made;
}

export function unreadable(): Cluster {
  const made = overdue((each) => each.annotate("shared/one", { to: "shop" }));
  for (const action of made.plan().actions)
    if (action.kind === "confirm")
      for (const question of action.liveReads)
        made.memories.shared.liveReads.failed(
          question,
          "source shared/one cannot be read: no right to get secrets",
          made.now,
          0.5,
        );
  return made;
}

export function heldDeletes(): Cluster {
  const made = settled({ to: "*" });
  made.restart();
  configure(made, { deleteHoldMs: 300_000 });
  made.namespace("shop");
  made.settle();
  made.annotate("shared/one", { to: "other" });
  made.due();
  return made;
}

const FAILURE = {
  reason: "quota secrets would be exceeded",
  cause: "quota",
  error: "forbidden",
};

export function failed(cause: string): Cluster {
  const made = cluster({ to: "*" });
  for (const action of made.plan().actions)
    made.memory.failed(action, { ...FAILURE, cause }, made.now, 0.5);
  return made;
}

export function fought(): Cluster {
  const made = settled({ to: "*" });
  for (let round = 0; round < 8; round++) {
    made.edit("team-a/one", ({ data }) => {
      data["key"] = `eA=${round}`;
    });
    made.sync();
    made.now += 2000;
  }
  return made;
}

export function pulling(source: Texts, own: Texts = { from: "shared/one" }): Cluster {
  const made = cluster(source);
  made.secret("team-a/mine", own, { data: {} });
  return made;
}

export function pulled(source: Texts, then: (made: Cluster) => void = () => undefined): Cluster {
  const made = pulling(source);
  made.settle();
  then(made);
  return made;
}
