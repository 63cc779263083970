// A delete that meets a conflict: the copy is looked at live, and goes under its new version as long as it
// is the one that was judged.
import assert from "node:assert/strict";
import { test } from "node:test";
import { CopyObject } from "../../../src/controller/model/cluster.ts";
import { DataCache } from "../../../src/controller/state/data-cache.ts";
import type { CachedObject, CopyTemplate } from "../../../src/controller/model/cluster.ts";
import type { ApiClient, ApiRequest } from "../../../packages/kube/rest/api-client.ts";
import { Apply } from "../../../src/controller/writes/apply.ts";
import type { Outcome } from "../../../src/controller/writes/outcome.ts";
import { field } from "../../../packages/sandbox/testing/http.ts";
import { refusal } from "../../support/controller/memory-api.ts";
import { Cluster } from "../../support/planner/planner-cluster.ts";

type Answer = object | "conflict";
type Met = { readonly outcome: Outcome; readonly sent: readonly ApiRequest[] };

/** Performs the first action that is due there; each request gets the next of `answers`. */
async function meet(
  made: Cluster,
  answers: readonly Answer[],
  read: (raw: unknown) => CachedObject | undefined,
): Promise<Met> {
  const [action] = made.due().actions;
  assert.ok(action);
  const sent: ApiRequest[] = [];
  const request = async (asked: ApiRequest): Promise<unknown> => {
    const answer = answers[sent.length];
    sent.push(asked);
    if (answer === "conflict") throw refusal(asked, answer);
    return answer;
  };
  const client = { server: "http://test", request, open: request, close: async () => {} };
  const apply = new Apply({
    client: client as unknown as ApiClient,
    writeDeadlineMs: () => Infinity,
    onWrite: () => undefined,
    onLiveRead: () => undefined,
    isReserved: () => false,
    onReplace: () => {},
    forget: () => {},
    remember: () => undefined,
    read: (_, raw) => read(raw),
    sources: { cache: new DataCache(2 ** 20), read: () => undefined, onRead: () => undefined },
  });
  return { outcome: await apply.perform(action), sent };
}

/** A copy that nobody wants any more, and is due to go. */
function unwanted(): { readonly made: Cluster; readonly copy: CopyObject } {
  const made = new Cluster({ deleteGraceMs: 0 }).withNamespaces("shared", "team-a");
  made.secret("shared/registry", { to: "*" });
  made.settle();
  made.edit("shared/registry", ({ metadata }) => (metadata.annotations = {}));
  const copy = made.cached("team-a/registry");
  assert.ok(copy.role === "copy");
  return { made, copy };
}

const methods = ({ sent }: Met): readonly string[] => sent.map(({ method }) => method);
const DELETED = { kind: "Status", status: "Success" };
const FOUND = { metadata: { name: "registry" } };

test("a copy that somebody rewrote meanwhile goes under the version that is seen", async () => {
  const { made, copy } = unwanted();
  const rewritten = new CopyObject({ ...identityOf(copy), resourceVersion: "9999" }, copy.template);
  const met = await meet(made, ["conflict", FOUND, DELETED], () => rewritten);
  assert.equal(met.outcome.kind, "removed");
  assert.deepEqual(methods(met), ["DELETE", "GET", "DELETE"]);
  const versions = [met.sent[0], met.sent[2]].map((request) =>
    field(request?.body, "preconditions", "resourceVersion"),
  );
  assert.deepEqual(versions, [copy.resourceVersion, "9999"]);
});

const others: Readonly<Record<string, Partial<CopyTemplate>>> = {
  "names another UID of its source": { sourceUid: "another" },
  "names another source": { source: { namespace: "shared", name: "other" } },
  "is to be kept": { onDelete: "keep" },
  "is of an entry of the source list": { entry: "all" },
  "has a newer version's mark": { unknownMark: "future" },
};
for (const [what, change] of Object.entries(others))
  test(`a copy that ${what} by now is judged anew, and not deleted`, async () => {
    const { made, copy } = unwanted();
    const other = new CopyObject(identityOf(copy), { ...copy.template, ...change });
    const met = await meet(made, ["conflict", FOUND, DELETED], () => other);
    assert.equal(met.outcome.kind, "moved");
    assert.deepEqual(methods(met), ["DELETE", "GET"]);
  });

test("what is another object by now, or no copy, is judged anew, and not deleted", async () => {
  const { made, copy } = unwanted();
  const again = new CopyObject({ ...identityOf(copy), uid: "another" }, copy.template);
  for (const found of [again, made.cached("shared/registry"), undefined]) {
    const met = await meet(made, ["conflict", FOUND, DELETED], () => found);
    assert.equal(met.outcome.kind, "moved");
    assert.deepEqual(methods(met), ["DELETE", "GET"]);
  }
});

test("a copy that is rewritten before three deletes is left to the next sync", async () => {
  const { made, copy } = unwanted();
  const answers = ["conflict", FOUND, "conflict", FOUND, "conflict", FOUND, DELETED] as const;
  const met = await meet(made, answers, () => copy);
  assert.equal(met.outcome.kind, "moved");
  assert.deepEqual(methods(met), ["DELETE", "GET", "DELETE", "GET", "DELETE"]);
});

test("a copy that another client deletes meanwhile, and a finalizer holds, is not our delete", async () => {
  const { made, copy } = unwanted();
  const going = new CopyObject({ ...identityOf(copy), deleting: true }, copy.template);
  const met = await meet(made, ["conflict", FOUND, DELETED], () => going);
  assert.equal(met.outcome.kind, "moved");
  assert.deepEqual(methods(met), ["DELETE", "GET"]);
});

function identityOf({ namespace, name, uid, resourceVersion, deleting }: CopyObject) {
  return { namespace, name, uid, resourceVersion, deleting };
}
