// `rotation` and `inventory` judged by a world with known truth on a real API server: no false "safe", no Pod missed, no wrong
// row, by the process as users start it. Its time and memory are measured once and reported.
import { placeLiveLease } from "../support/api-server/live-lease.ts";
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { field } from "../../packages/sandbox/testing/http.ts";
import { commandLine, type Said } from "../support/programs/command-line.ts";
import { assertAsPlanned } from "../support/worlds/rotation/as-planned.ts";
import {
  specOf,
  statusOf,
  timeText,
  WAYS,
  type Timing,
  type Use,
} from "../support/worlds/rotation/pod-uses.ts";
import {
  openRotationJudge,
  type RotationJudge,
} from "../support/worlds/rotation/rotation-judge.ts";
import { holdersOf, pullersOf, type Holder } from "../support/worlds/rotation/truth.ts";
import { assertWholeInventory } from "../support/worlds/rotation/whole-inventory.ts";
import { refOf, sourceNamespacesOf } from "../support/worlds/rotation/world-parts.ts";

type Item = {
  readonly namespace: string;
  readonly name: string;
  readonly role: string;
  readonly value: string;
  readonly since?: string;
  readonly verdict: string;
  readonly holders: readonly {
    readonly pod: string;
    readonly owner?: { readonly kind: string; readonly name: string };
    readonly holds: readonly { readonly by: string }[];
    readonly restart: string;
  }[];
  readonly pulls: readonly string[];
};
type Answer = { readonly safe: boolean; readonly items: readonly Item[] };

let judge: RotationJudge;
before(async () => {
  judge = await openRotationJudge();
  await placeLiveLease(judge.cluster, "default");
});
after(() => judge.close());

test("the world is on the server as it was planned: values, times, Pods, bindings", () =>
  assertAsPlanned(judge));

test("the inventory of the world has every source, copy, time and reader, and no other", () =>
  assertWholeInventory(judge));

function words(source: string, ...more: readonly string[]): readonly string[] {
  const [namespace = "", name = ""] = source.split("/");
  const { cluster, world } = judge;
  return [
    "rotation",
    name,
    "-n",
    namespace,
    "--kubeconfig",
    cluster.kubeconfig,
    "--lease-namespace=default",
    `--source-namespaces=${sourceNamespacesOf(world)}`,
    ...more,
  ];
}

function run(source: string, ...more: readonly string[]): Promise<Said> {
  return commandLine(words(source, ...more));
}

/** As the truth has them. */
function answeredHolders({ items }: Answer): readonly Holder[] {
  return items
    .flatMap(({ namespace, holders }) =>
      holders.map(({ pod, owner, holds }) => ({
        pod: `${namespace}/${pod}`,
        holds: [...new Set(holds.map(({ by }) => by))].toSorted(),
        owner: owner ? `${owner.kind}/${owner.name}` : "",
      })),
    )
    .toSorted((a, b) => (a.pod < b.pod ? -1 : 1)) as readonly Holder[];
}

/** In any order; says what is missing and what is invented. */
function same(actual: readonly unknown[], expected: readonly unknown[], what: string): void {
  const answeredTexts = new Set(actual.map((each) => JSON.stringify(each)));
  const expectedTexts = new Set(expected.map((each) => JSON.stringify(each)));
  assert.deepEqual(
    {
      missing: [...expectedTexts].filter((text) => !answeredTexts.has(text)),
      invented: [...answeredTexts].filter((text) => !expectedTexts.has(text)),
      count: actual.length,
    },
    { missing: [], invented: [], count: expected.length },
    what,
  );
}

// Each is far from the age of the world, which is some minutes.
for (const syncPeriod of [2, 24 * 3600])
  test(`each source has its true rows, Pods and exit code after ${syncPeriod} s`, async () => {
    const { world, pods } = judge;
    for (const source of world.sources.map(refOf)) {
      const { code, stdout, stderr } = await run(
        source,
        "-o",
        "json",
        `--sync-period=${syncPeriod}s`,
      );
      const answer: Answer = JSON.parse(stdout);
      const refreshed = { now: Math.floor(Date.now() / 1000), syncPeriod };
      const holders = holdersOf(world, pods, source, refreshed);
      same(answeredHolders(answer), holders, source);
      const places = world.places.filter((place) => place.source === source);
      const rows = places.map(({ namespace, name, role, state, since }) => ({
        place: `${namespace}/${name}`,
        role,
        isCurrent: state === "current",
        since: state === "current" ? timeText(since) : undefined,
      }));
      const answered = answer.items
        .filter(({ role }) => role !== "former")
        .map(({ namespace, name, role, verdict, since }) => ({
          place: `${namespace}/${name}`,
          role,
          isCurrent: verdict === "current",
          since: verdict === "current" ? since : undefined,
        }));
      same(answered, rows, source);
      const pulls = answer.items.flatMap(({ namespace, pulls }) =>
        pulls.map((pod) => `${namespace}/${pod}`),
      );
      same(pulls, pullersOf(world, pods, source), source);
      const isSafe = holders.length === 0 && places.every(({ state }) => state === "current");
      assert.equal(answer.safe, isSafe);
      assert.equal(code, isSafe ? 0 : 2, stderr);
      assert.equal(/safe to revoke/.test(stderr), isSafe, stderr);
    }
  });

test("the process takes at most 250 MiB", async (t) => {
  for (const source of judge.world.sources.map(refOf)) {
    const began = performance.now();
    const child = spawn(process.execPath, ["bin/secretcast.js", ...words(source)], {
      stdio: ["ignore", "ignore", "ignore"],
    });
    let peakMiB = 0;
    const look = setInterval(() => {
      peakMiB = Math.max(peakMiB, peakMemoryMiB(child.pid ?? 0));
    }, 5);
    const [code]: unknown[] = await once(child, "close");
    clearInterval(look);
    const took = Math.round(performance.now() - began);
    t.diagnostic(`${source}: exit code ${String(code)}, ${took} ms, ${Math.round(peakMiB)} MiB`);
    assert.ok(peakMiB > 20 && peakMiB <= 250, `${peakMiB} MiB`);
  }
});

/** 0 for a process that has ended. */
function peakMemoryMiB(pid: number): number {
  try {
    const [, kib = "0"] = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
    return Number(kib) / 1024;
  } catch {
    return 0;
  }
}

test("one more Pod that holds the old value of the safe source is never overlooked", async () => {
  const { http, world, cluster } = judge;
  const safe = "w-security/wildcard-tls";
  const place = world.places.find(({ source, role }) => source === safe && role === "copy");
  assert.ok(place);
  const { namespace, name: secret, since } = place;
  const old: Timing = { kind: "started", at: since - 60 };
  const cases: readonly (readonly [what: string, uses: readonly Use[], timing: Timing])[] = [
    ...WAYS.filter((way) => !["pull", "volume", "projected"].includes(way)).map(
      (way) => [way, [{ way, secret }], old] as const,
    ),
    ["in the same second", [{ way: "env", secret }], { kind: "started", at: since }],
    [
      "an init container that has ended",
      [{ way: "initEnv", secret }],
      { kind: "reported", at: since - 60, containersAt: since - 50 },
    ],
    [
      "a restarted container with a subPath",
      [{ way: "subPath", secret }],
      { kind: "reported", at: since - 60, containersAt: since + 50 },
    ],
  ];
  const path = `/api/v1/namespaces/${namespace}/pods`;
  for (const [what, uses, timing] of cases) {
    const body = { metadata: { name: "one-more" }, spec: specOf(uses) };
    assert.equal((await http.send("POST", path, { body })).status, 201, what);
    const status = { status: statusOf(timing, uses) };
    const contentType = "application/merge-patch+json";
    await http.send("PATCH", `${path}/one-more/status`, { body: status, contentType });
    const { code, stdout, stderr } = await run(safe);
    assert.equal(code, 2, `${what}: ${stderr}`);
    assert.match(stdout, /^ {2}kubectl get pod one-more -n w-\d+ -o yaml \| kubectl replace/m);
    // As the line says: the Pod is created again, and then it has not started.
    const [line = ""] = /kubectl get pod one-more .*/.exec(stdout) ?? [];
    execFileSync("bash", ["-c", line], {
      env: { ...process.env, KUBECONFIG: cluster.kubeconfig },
      stdio: "ignore",
    });
    assert.equal((await run(safe)).code, 0, what);
    await http.send("DELETE", `${path}/one-more`, { body: { gracePeriodSeconds: 0 } });
  }
});

test("a namespace with unlistable Pods gives exit code 1 and the command to run", async () => {
  const { http, world } = judge;
  const safe = "w-security/wildcard-tls";
  const grant = async (name: string, rules: readonly object[], namespaces?: readonly string[]) => {
    const rbac = "/apis/rbac.authorization.k8s.io/v1";
    await http.send("POST", `${rbac}/clusterroles`, { body: { metadata: { name }, rules } });
    const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name };
    const subjects = [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "operator" }];
    const body = { metadata: { name }, roleRef, subjects };
    const paths = namespaces
      ? namespaces.map((each) => `${rbac}/namespaces/${each}/rolebindings`)
      : [`${rbac}/clusterrolebindings`];
    for (const path of paths) assert.equal((await http.send("POST", path, { body })).status, 201);
  };
  const read = { apiGroups: [""], resources: ["secrets", "namespaces", "configmaps"] };
  const deployments = { apiGroups: ["apps"], resources: ["deployments"], verbs: ["list"] };
  await grant("read-copies", [{ ...read, verbs: ["get", "list"] }, deployments]);
  const left = world.places.find(({ source }) => source === safe)?.namespace ?? "";
  // A copy may have been in any of them.
  const { body } = await http.send("GET", "/api/v1/namespaces");
  const all = field(body, "items");
  assert.ok(Array.isArray(all));
  const others = all
    .map((each) => String(field(each, "metadata", "name")))
    .filter((name) => name !== left);
  const pods = { apiGroups: [""], resources: ["pods"], verbs: ["list"] };
  await grant("read-pods", [pods], others);
  const leases = { apiGroups: ["coordination.k8s.io"], resources: ["leases"], verbs: ["get"] };
  await grant("read-lease", [leases], ["default"]);
  const denied = await run(safe, "--as", "operator");
  assert.equal(denied.code, 1, denied.stderr);
  assert.match(
    denied.stderr,
    new RegExp(
      `^secretcast: Pods may not be listed in ${left} \\(403 Forbidden\\).* ask for: kubectl create rolebinding secretcast-rotation -n ${left} --clusterrole=view --user=USER$`,
      "m",
    ),
  );
  await grant("read-last-pods", [pods], [left]);
  const allowed = await run(safe, "--as", "operator");
  assert.equal(allowed.code, 0, allowed.stderr);
  assert.match(allowed.stderr, /^safe to revoke: /m);
});
