// Whether a write may still go on after events of its source or its namespace.
import assert from "node:assert/strict";
import { test } from "node:test";
import { readNamespace } from "../../../src/controller/observed/read-namespace.ts";
import type { CachedObject, Namespace } from "../../../src/controller/model/cluster.ts";
import { isStillDecided, pooledWriteOf } from "../../../src/controller/writes/action-write.ts";
import type { Texts } from "../../support/planner/raw-cluster.ts";
import { Cluster } from "../../support/planner/planner-cluster.ts";

const SOURCE = "Secret shared/registry";

/** A copy to be made in team-a, or one to be deleted there. */
function open(kind: "create" | "delete") {
  const made = new Cluster({ deleteGraceMs: 0 }).withNamespaces("shared", "team-a");
  made.secret("shared/registry", { to: "team-*" });
  if (kind === "delete") {
    made.settle();
    made.secret("shared/registry", { to: "nowhere" });
    made.now += 10_000;
  }
  const action = kind === "create" ? made.plan().actions[0] : made.due().actions[0];
  assert.equal(action?.kind, kind);
  let namespace: Namespace | undefined;
  const says = (accept: string | undefined, labels: Texts = {}): Namespace => {
    made.namespace("team-a", accept === undefined ? {} : { accept }, labels);
    const read = readNamespace(made.namespaces.get("team-a")) ?? assert.fail();
    namespace = { ...read, uid: "of-team-a" };
    return namespace;
  };
  says(undefined);
  const holds = (key: string, before: CachedObject | Namespace | undefined): boolean =>
    isStillDecided(pooledWriteOf(action), new Map([[key, before]]), {
      caches: {
        of: () => ({
          get: ({ namespace: of, name }) => made.cached(`${of}/${name}`),
          remember: () => undefined,
          read: () => undefined,
          forget: () => undefined,
        }),
        namespace: () => namespace,
      },
      entryOf: () => undefined,
    });
  return { made, says, holds, source: made.cached("shared/registry") };
}

test("a create goes on while source and namespace decide as before, whatever else of them changes (B4)", () => {
  const { made, says, holds, source } = open("create");
  const before = says(undefined, { one: "1" });
  says(undefined, { two: "2" });
  assert.equal(holds("team-a", before), true);
  made.secret("shared/registry", { to: "team-*" }, { data: { other: "eA==" } });
  assert.equal(holds(SOURCE, source), true);
  assert.equal(holds("team-a", undefined), false, "a namespace of which nothing was known");
});

test("a create does not go on where a namespace declines, although it did so before as well (B4)", () => {
  const { says, holds } = open("create");
  const before = says("false");
  says("true");
  says("false");
  assert.equal(holds("team-a", before), false, "the plan looked in between");
});

test("a removal does not go on where its source wants the place, although it did so before as well (B7)", () => {
  const { made, holds, source: unwanting } = open("delete");
  made.secret("shared/registry", { to: "nowhere" }, { data: { other: "eA==" } });
  assert.equal(holds(SOURCE, unwanting), true);
  made.secret("shared/registry", { to: "team-a" });
  const wanting = made.cached("shared/registry");
  assert.equal(holds(SOURCE, unwanting), false);
  made.secret("shared/registry", { to: "team-a" });
  assert.equal(holds(SOURCE, wanting), false, "the plan looked in between");
});
