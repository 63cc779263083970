// `check` and `explain` on a real API server, with its RBAC and its admission policies: the answers are
// the server's own.
import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { kubectlAt } from "../support/api-server/kubectl.ts";
import { ACCOUNT } from "../support/api-server/account.ts";
import { sharedCluster } from "../support/api-server/cluster.ts";
import { commandLine, type Said } from "../support/programs/command-line.ts";
import { ofSecrets as test } from "../support/scenes/scenario-end.ts";
import { openScene } from "../support/scenes/scene.ts";

type Item = { readonly check: string; readonly state: string; readonly says: string };

function run(...args: readonly string[]): Promise<Said> {
  return commandLine([...args, "--kubeconfig", sharedCluster().kubeconfig]);
}

async function checked(...args: readonly string[]): Promise<ReadonlyMap<string, Item>> {
  const { stdout } = await run("check", "-o", "json", ...args);
  const { items }: { readonly items: readonly Item[] } = JSON.parse(stdout);
  return new Map(items.map((item) => [item.check, item]));
}

const isRight = ({ check }: Item): boolean =>
  /^(get|list|watch|create|patch|update|delete) /.test(check);

test("the controller's account has every right that check asks for, and the guardrail is reported", async () => {
  const found = await checked("--as", ACCOUNT);
  const rights = [...found.values()].filter(isRight);
  assert.ok(rights.length > 15);
  assert.deepEqual(
    rights.filter(({ state }) => state !== "ok"),
    [],
  );
  assert.match(found.get("server version")?.says ?? "", /^v1\.\d+\.\d+ \(tested with/);
  assert.match(found.get("streaming lists (WatchList)")?.says ?? "", /filled by a stream/);
  // All except the rights is read as the administrator.
  assert.match(found.get("guardrail")?.says ?? "", /^secretcast-guardrail is of /);
  assert.match(found.get("namespaces")?.says ?? "", /^\d+$/);
});

test("an account without rights learns each missing one, with exit code 2", async () => {
  const nobody = "system:serviceaccount:default:nobody";
  const found = await checked("--as", nobody);
  const rights = [...found.values()].filter(isRight);
  assert.deepEqual(
    rights.filter(({ state }) => state !== "missing"),
    [],
  );
  assert.equal(found.get("Secrets")?.state, "ok");
  assert.match(found.get("guardrail")?.says ?? "", /^secretcast-guardrail is of /);
  const { code, stdout } = await run("check", "--as", nobody);
  assert.equal(code, 2);
  assert.match(
    stdout,
    /^missing +patch secrets in every namespace .*manifests\/clusterrole\.yaml/m,
  );
});

test("rights in one namespace are found in that one, and missing in another", async (t) => {
  const scene = await openScene(t);
  const [a, b] = [await scene.namespace("a"), await scene.namespace("b")];
  const rights = fileURLToPath(new URL("../../manifests/namespace-rights", import.meta.url));
  const kubectl = (...words: readonly string[]) =>
    kubectlAt(sharedCluster().kubeconfig, ["-n", a, ...words]);
  kubectl("apply", "-k", rights);
  const user = "system:serviceaccount:other:other";
  kubectl(
    "create",
    "rolebinding",
    "other",
    "--role=secretcast-secrets",
    "--serviceaccount=other:other",
  );
  const found = await checked("--as", user, "--namespaces", `${a},${b}`, "--source-namespaces", a);
  assert.equal(found.get(`delete secrets in ${a}`)?.state, "ok");
  assert.equal(found.get(`delete secrets in ${b}`)?.state, "missing");
  assert.equal(found.get(`get namespaces/${a} in ${a}`)?.state, "missing");
});

test("explain predicts what a run on a real cluster does", async (t) => {
  const scene = await openScene(t);
  const a = await scene.namespace("a");
  await scene.api.createSecret(scene.source, "s", {
    annotations: { "secretcast.io/to": a },
    data: { k: "1" },
  });
  const ask = [
    "explain",
    "s",
    "-n",
    scene.source,
    "--in",
    a,
    "--source-namespaces",
    scene.source,
    "-o",
    "json",
  ];
  const verdict = async (): Promise<string> =>
    JSON.parse((await run(...ask)).stdout).items[0].verdict;
  assert.equal(await verdict(), "create");
  const running = scene.start();
  await scene.holds(a, "s", { k: "1" });
  assert.equal(await verdict(), "current");
  await running.stop();
  const hidden = await run(...ask, "--as", "system:serviceaccount:default:nobody");
  assert.equal(hidden.code, 1);
  assert.match(hidden.stderr, /403 Forbidden/);
  assert.doesNotMatch(hidden.stderr + hidden.stdout, /\n\s+at /);
});
