// Whether a write may start or go on, as the caches show its source, its namespace and its place now.
import assert from "node:assert/strict";
import { test } from "node:test";
import { readNamespace } from "../../../src/controller/observed/read-namespace.ts";
import type { Namespace } from "../../../src/controller/model/cluster.ts";
import { isUntouched, stillHolds } from "../../../src/controller/writes/action-write.ts";
import { Cluster } from "../../support/planner/planner-cluster.ts";

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
  const caches = {
    of: () => ({
      get: ({ namespace, name }: { readonly namespace: string; readonly name: string }) =>
        made.secrets.has(`${namespace}/${name}`) ? made.cached(`${namespace}/${name}`) : undefined,
      remember: () => undefined,
      read: () => undefined,
      forget: () => undefined,
    }),
    namespace: (name: string): Namespace | undefined => readNamespace(made.namespaces.get(name)),
  };
  const holds = (): boolean => stillHolds(action, { caches, entryOf: () => undefined });
  return { made, holds, untouched: () => isUntouched(action, caches) };
}

test("a create continues while its source and namespace ask for it", () => {
  const { made, holds } = open("create");
  assert.equal(holds(), true);
  made.namespace("team-a", {}, { two: "2" });
  made.secret("shared/registry", { to: "team-*" }, { data: { other: "eA==" } });
  assert.equal(holds(), true);
});

const STOPS_A_CREATE: Readonly<Record<string, (made: Cluster) => void>> = {
  "its source has another rule": (made) => made.secret("shared/registry", { to: "team-a" }),
  "its source is refused": (made) => made.secret("shared/registry", { to: "team-*", x: "y" }),
  "its source no longer exists": (made) => made.delete("shared/registry"),
  "the namespace declines": (made) => made.namespace("team-a", { accept: "false" }),
  "the namespace cannot be understood": (made) => made.namespace("team-a", { accept: "?" }),
  "the namespace no longer exists": (made) => void made.namespaces.delete("team-a"),
};

for (const [what, change] of Object.entries(STOPS_A_CREATE))
  test(`a create does not go on once ${what}`, () => {
    const { made, holds } = open("create");
    change(made);
    assert.equal(holds(), false);
  });

test("a removal goes on while its source does not want the place", () => {
  const { made, holds } = open("delete");
  made.secret("shared/registry", { to: "nowhere" }, { data: { other: "eA==" } });
  assert.equal(holds(), true);
  made.delete("shared/registry");
  assert.equal(holds(), true);
});

const STOPS_A_REMOVAL: Readonly<Record<string, (made: Cluster) => void>> = {
  "its source wants the place": (made) => made.secret("shared/registry", { to: "team-a" }),
  "its source is paused": (made) =>
    made.secret("shared/registry", { to: "nowhere", paused: "true" }),
  "its source is refused": (made) => made.secret("shared/registry", { to: "nowhere", x: "y" }),
  "the namespace cannot be understood": (made) => made.namespace("team-a", { accept: "?" }),
};

for (const [what, change] of Object.entries(STOPS_A_REMOVAL))
  test(`a removal does not go on once ${what}`, () => {
    const { made, holds } = open("delete");
    change(made);
    assert.equal(holds(), false);
  });

test("a write does not start where its place changed since the plan", () => {
  const create = open("create");
  assert.equal(create.untouched(), true);
  create.made.secret("team-a/registry");
  assert.equal(create.untouched(), false);
  const removal = open("delete");
  assert.equal(removal.untouched(), true);
  removal.made.edit("team-a/registry", ({ metadata }) => (metadata.labels = {}));
  assert.equal(removal.untouched(), false);
});
