// `secretcast status` where a controller runs in a pod: its page is read through a port-forward, and
// where that cannot be done the status is planned, and says why.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createServer as createTcpServer, type Socket } from "node:net";
import { test, type TestContext } from "node:test";
import {
  DEPLOYMENTS,
  installedFront,
  pageOf,
  POD,
  PODS,
  type Front,
} from "../../support/scenes/installed-front.ts";
import { liveLease, markedCopy, sandboxCluster } from "../../support/cli/sandbox-cluster.ts";
import { commandLine, type Said } from "../../support/programs/command-line.ts";
import { openScene, type Scene } from "../../support/scenes/scene.ts";
import { eventually } from "../../../packages/kube/testing/eventually.ts";

async function opened(
  t: TestContext,
): Promise<{ scene: Scene; made: Front; status: (...more: string[]) => Promise<Said> }> {
  const scene = await openScene(t);
  const a = await scene.namespace("team-a");
  const b = await scene.namespace("team-b");
  const to = `${scene.prefix}-team-*`;
  await scene.api.createSecret(scene.source, "fine", {
    annotations: { "secretcast.io/to": to },
    data: { k: "v" },
  });
  await scene.api.createSecret(scene.source, "taken", {
    annotations: { "secretcast.io/to": to },
    data: { k: "v" },
  });
  await scene.unmanaged(b, "taken");
  const made = await installedFront(t, scene);
  made.page = (await pageOf(t, scene)).port;
  await scene.holds(a, "taken", { k: "v" });
  await scene.holds(b, "fine", { k: "v" });
  const status = (...more: string[]): Promise<Said> =>
    commandLine(["status", "--kubeconfig", made.kubeconfig, ...more]);
  return { scene, made, status };
}

test("the page of the running controller is read through a port-forward, and it says so", async (t) => {
  const { scene, status } = await opened(t);
  const { code, stdout, stderr } = await eventually("its page shows both sources", async () => {
    const said = await status();
    return /fine +current +2/.test(said.stdout) && /taken +conflict/.test(said.stdout)
      ? said
      : undefined;
  });
  assert.equal(code, 2);
  assert.match(stdout, /^NAMESPACE +NAME +STATE +CURRENT +PENDING +CONFLICT +FAILED$/m);
  assert.match(
    stdout,
    new RegExp(
      `^conflict +${scene.source}/taken +${scene.prefix}-team-b/taken +a Secret of that name`,
      "m",
    ),
  );
  assert.match(
    stderr,
    new RegExp(`^read from the controller secretcast/${POD} \\(9\\.9\\.9, alone\\)$`, "m"),
  );
  const failing = await status("--failing", "-o", "name");
  assert.equal(failing.stdout, `secret/taken -n ${scene.source}\n`);
  assert.equal(failing.code, 2);
  const list = JSON.parse((await status("-o", "json")).stdout);
  assert.equal(list.kind, "StatusList");
  assert.deepEqual(
    list.items.map(({ name, state }: Record<string, string>) => [name, state]),
    [
      ["taken", "conflict"],
      ["fine", "current"],
    ],
  );
});

/** A source `fine` with its copy in `home`, and the controller that made it. */
async function openedWithCopy(t: TestContext) {
  const scene = await openScene(t);
  const home = await scene.namespace("team-a");
  await scene.api.createSecret(scene.source, "fine", {
    annotations: { "secretcast.io/to": home },
    data: { k: "v" },
  });
  const made = await installedFront(t, scene);
  const { port, stop } = await pageOf(t, scene);
  await scene.holds(home, "fine", { k: "v" });
  const said = (...words: string[]): Promise<Said> =>
    commandLine([...words, "--kubeconfig", made.kubeconfig]);
  return { scene, home, made, port, stop, said };
}

/** The page on `port`, with these fields; undefined: without them. */
async function pageWith(t: TestContext, port: number, fields: object): Promise<number> {
  const server = createServer((request, response) => {
    void (async () => {
      const answer = await fetch(`http://127.0.0.1:${port}${request.url}`);
      const status: Record<string, unknown> = JSON.parse(await answer.text());
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ ...status, ...fields }));
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

test("a name denied to the controller is not current in status and frozen in explain", async (t) => {
  const { home, made, port, said } = await openedWithCopy(t);
  made.page = port;
  await eventually("all is current", async () => (await said("status")).code === 0);
  made.page = await pageWith(t, port, {
    troubles: ["objects named fine cannot be read (403)"],
    unreadableNames: [{ kind: "Secret", name: "fine" }],
  });
  const { code, stderr } = await said("status");
  assert.equal(code, 2, stderr);
  assert.match(stderr, /^not all is current$/m);
  assert.match(stderr, /^the controller: objects named fine cannot be read \(403\)$/m);
  const explained = await said("explain", "fine", "-n", home);
  assert.match(
    explained.stdout,
    /^frozen, because objects named fine cannot be read: the API server/m,
  );
  assert.match(explained.stdout, /^ +secretcast check: it names the right that is missing$/m);
});

for (const [what, fields] of Object.entries({
  "without troubles": { troubles: undefined },
  "without unreadableNames": { unreadableNames: undefined },
  "that does not say how many sources it leaves out": { sources: { shown: [] } },
  "whose totals have no states": { totals: {} },
}))
  test(`a page ${what} is not read, and status plans by itself`, async (t) => {
    const { made, port, said } = await openedWithCopy(t);
    made.page = port;
    await eventually("all is current", async () => (await said("status")).code === 0);
    assert.match((await said("status")).stderr, /read from the controller/);
    made.page = await pageWith(t, port, fields);
    const { stderr } = await said("status");
    assert.match(
      stderr,
      /^planned from the cluster, .*: pod .* does not serve a status that this/m,
    );
  });

test("with a controller that runs with --dry-run nothing is current, in status, check and rotation", async (t) => {
  const { scene, made, stop, said } = await openedWithCopy(t);
  await stop();
  made.page = (await pageOf(t, scene, { ...scene.flags(), "dry-run": true })).port;
  const status = await eventually("its page has a plan", async () => {
    const answer = await said("status");
    return /read from the controller/.test(answer.stderr) ? answer : undefined;
  });
  assert.equal(status.code, 2, status.stderr);
  const why =
    /^no controller keeps the copies current: .* runs with --dry-run, and writes nothing; /m;
  assert.match(status.stderr, why);
  assert.match(status.stderr, /^every copy equals its source$/m);
  const body: { items: { spec: { template: { spec: { containers: { args: string[] }[] } } } }[] } =
    JSON.parse(JSON.stringify(made.answers.get(DEPLOYMENTS)?.body));
  body.items[0]?.spec.template.spec.containers[0]?.args.push("--dry-run");
  made.answers.set(DEPLOYMENTS, { status: 200, body });
  for (const words of [["rotation", "fine", "-n", scene.source], ["inventory"]]) {
    const { code, stderr } = await said(...words);
    assert.equal(code, 2, stderr);
    assert.match(stderr, why);
  }
  const check = await said("check");
  assert.equal(check.code, 2);
  assert.match(
    check.stdout,
    /^missing +a replica leads +- +no controller keeps the copies current: /m,
  );
});

test("status is planned by the controller's own flags where port-forward is impossible", async (t) => {
  const { scene, made, status } = await opened(t);
  const planned = async (why: RegExp): Promise<void> => {
    const { code, stdout, stderr } = await status();
    assert.equal(code, 2, stderr);
    assert.match(stdout, /taken +conflict/);
    assert.match(stderr, why);
    assert.match(
      stderr,
      new RegExp(`--source-namespaces=${scene.source} .*those of Deployment secretcast/secretcast`),
    );
    assert.match(stderr, /--delete-grace=1s/);
  };
  made.allowed = false;
  await planned(/page is not at hand: get pods\/portforward is not allowed in secretcast$/m);
  made.allowed = true;
  made.page = undefined;
  await planned(
    new RegExp(`page is not at hand: pod ${POD}: the port-forward was (refused|closed)$`, "m"),
  );
  made.page = 1;
  await planned(new RegExp(`page is not at hand: pod ${POD}: its page was not answered$`, "m"));
  made.answers.set(PODS, { status: 200, body: { items: [] } });
  await planned(/page is not at hand: no pod of it runs in secretcast$/m);
  made.answers.set(PODS, { status: 403, body: { kind: "Status", reason: "Forbidden", code: 403 } });
  await planned(/page is not at hand: its pods in secretcast may not be listed$/m);
});

for (const [what, answer] of [
  ["is silent", ""],
  [
    "falls silent within its answer",
    'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 500\r\n\r\n{"version":',
  ],
] as const)
  test(`a page whose port-forward is open and ${what} is given up within --request-timeout`, async (t) => {
    const { made, status } = await opened(t);
    const sockets = new Set<Socket>();
    const server = createTcpServer((socket) => {
      sockets.add(socket);
      socket.on("error", () => undefined);
      socket.once("data", () => socket.write(answer));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    t.after(() => {
      for (const socket of sockets) socket.destroy();
      server.close();
    });
    made.page = (server.address() as AddressInfo).port;
    const { code, stdout, stderr } = await status("--request-timeout=2s");
    assert.equal(code, 2, stderr);
    assert.match(stdout, /taken +conflict/);
    const why = new RegExp(`at hand: pod ${POD}: its page was not read within 2s$`, "m");
    assert.match(stderr, why);
  });

test("settings other than the controller's are planned without its page", async (t) => {
  const { scene, status } = await opened(t);
  const same = [`--source-namespaces=${scene.source}`, "--delete-grace=1000ms"];
  assert.match((await status(...same)).stderr, /^read from the controller secretcast\//m);
  const { stderr } = await status(...same, "--exclude-namespaces=none-*");
  assert.match(
    stderr,
    /^planned from the cluster.*: the controller runs with other settings than those given here \(--exclude-namespaces\)$/m,
  );
  assert.match(stderr, /^judged by .*--exclude-namespaces='none-\*'/m);
});

test("whether a controller is installed that cannot be read is said, and several are named", async (t) => {
  const { made, scene } = await opened(t);
  const status = (...more: string[]): Promise<Said> =>
    commandLine([
      "status",
      "--kubeconfig",
      made.kubeconfig,
      "--source-namespaces",
      scene.source,
      ...more,
    ]);
  const forbidden = { status: 403, body: { kind: "Status", reason: "Forbidden", code: 403 } };
  const before = made.answers.get(DEPLOYMENTS);
  made.answers.set(DEPLOYMENTS, forbidden);
  made.answers.set("/apis/apps/v1/namespaces/secretcast/deployments", forbidden);
  assert.match((await status()).stderr, /whether a controller is installed cannot be read/);
  assert.ok(before);
  const items = (before.body as { items: readonly { metadata: object }[] }).items.flatMap(
    (each) => [each, { ...each, metadata: { ...each.metadata, namespace: "other" } }],
  );
  made.answers.set(DEPLOYMENTS, { status: 200, body: { items } });
  assert.match(
    (await status()).stderr,
    /read from the controller secretcast\//,
    "the one in the usual namespace",
  );
  assert.match(
    (await status("--lease-namespace", "third")).stderr,
    /which Deployment is the controller is not known: secretcast\/secretcast, other\/secretcast/,
  );
});

test("--wait ends as soon as all is current, with 0; or after --timeout, with 2", async (t) => {
  const { scene, status } = await opened(t);
  const late = await status("--wait", "--timeout=10ms");
  assert.equal(late.code, 2);
  assert.match(late.stderr, /^timed out after 10ms \(--timeout\)$/m);
  const waiting = status("--wait", "--timeout=30s");
  scene.release(`${scene.prefix}-team-b`, "taken");
  await scene.api.deleteSecret(`${scene.prefix}-team-b`, "taken");
  const done = await waiting;
  assert.equal(done.code, 0, done.stderr);
  assert.match(done.stderr, /^all current$/m);
});

test("-w prints the sources once, then what changes, until it is interrupted", async (t) => {
  const { scene, made } = await opened(t);
  const stop = new AbortController();
  let stdout = "";
  const { runProgram } = await import("../../../src/cli/program.ts");
  const ended = runProgram(["status", "-w", "--kubeconfig", made.kubeconfig], {
    version: "1.2.3",
    env: {},
    clusterNamespace: undefined,
    stdout: { write: (text) => Boolean((stdout += text)) },
    stderr: { write: () => true },
    signal: stop.signal,
  });
  await eventually("it shows the conflict", () => /taken +conflict/.test(stdout));
  scene.release(`${scene.prefix}-team-b`, "taken");
  await scene.api.deleteSecret(`${scene.prefix}-team-b`, "taken");
  await eventually("it shows that it is over", () => /taken +current +2/.test(stdout));
  stop.abort();
  assert.equal(await ended, 0);
  assert.equal(stdout.match(/NAMESPACE +NAME/g)?.length, 1, "headers once");
  assert.match(stdout, /^\d{4}-\d\d-\d\dT[\d:.]+Z\n.*taken +current/m, "with the time");
});

test("flags of status that contradict each other are one line", async () => {
  for (const [args, line] of [
    [["-w", "--wait"], /-w and --wait contradict each other/],
    [["--timeout", "1s"], /--timeout is for --wait/],
    [["--wait", "--timeout", "soon"], /--timeout: "soon" is not a duration/],
  ] as const) {
    const { code, stderr } = await commandLine(["status", ...args]);
    assert.equal(code, 1);
    assert.match(stderr, line);
    assert.match(stderr, /^secretcast: [^\n]+\n$/);
  }
});

test("a page without an answer is reported after 3 s and replaced after 5 s", async (t) => {
  const { made, status } = await opened(t);
  const sockets = new Set<Socket>();
  const server = createTcpServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  made.page = (server.address() as AddressInfo).port;
  const { code, stderr } = await status();
  assert.equal(code, 2);
  assert.match(stderr, new RegExp(`^the page of pod ${POD} has not answered for 3s\n`));
  assert.match(stderr, new RegExp(`at hand: pod ${POD}: its page did not answer within 5s$`, "m"));
});

test("the first line says since when there is no live Lease, with exit code 2", async (t) => {
  const { run, sandbox } = await sandboxCluster(
    t,
    [
      { kind: "Namespace", metadata: { name: "secretcast" } },
      { kind: "Secret", metadata: { namespace: "secretcast", name: "plain" } },
    ],
    { leads: false },
  );
  const none = await run(["status"]);
  assert.equal(none.code, 2);
  assert.match(none.stderr, /^no replica leads: there is no Lease secretcast\/secretcast; start/);
  sandbox.load([
    {
      ...liveLease(),
      spec: { holderIdentity: "old_1", renewTime: "2026-11-20T08:25:28.000000Z" },
    },
  ]);
  const stale = await run(["status"]);
  assert.equal(stale.code, 2);
  const since = /^no replica leads since 2026-11-20T08:25:28Z: old_1 no longer renews the Lease/;
  assert.match(stale.stderr, since);
  assert.doesNotMatch(stale.stderr, /all current/);
});

test("a deleted source whose copies wait is in status --failing, without a controller too", async (t) => {
  const { run } = await sandboxCluster(t, [
    ...["secretcast", "team-a"].map((name) => ({ kind: "Namespace", metadata: { name } })),
    markedCopy("team-a/db", "secretcast/db"),
  ]);
  for (const words of [["status"], ["status", "--failing"], ["status", "-n", "team-a"]]) {
    const { code, stdout } = await run(words);
    assert.equal(code, 2);
    assert.match(stdout, /^secretcast +db +held /m);
    assert.match(stdout, /^held +secretcast\/db +team-a\/db +source secretcast\/db is gone; held/m);
  }
  const explained = await run(["explain", "db", "-n", "team-a"]);
  assert.match(explained.stdout, /\nheld, because source secretcast\/db is gone/);
});

test("-n shows whole sources: those in the namespace and those with a place there", async (t) => {
  const { scene, status } = await opened(t);
  const { prefix, source } = scene;
  await eventually("its page shows the conflict", async () =>
    /taken +conflict/.test((await status()).stdout),
  );
  const other = await scene.namespace("other");
  for (const namespace of [source, `${prefix}-team-a`, `${prefix}-team-b`]) {
    const { code, stdout } = await status("-n", namespace);
    assert.equal(code, 2, namespace);
    assert.match(stdout, new RegExp(`^conflict +${source}/taken +${prefix}-team-b/taken `, "m"));
    assert.match(stdout, /fine +current +2/);
  }
  const none = await status("-n", other);
  assert.deepEqual([none.code, none.stdout], [0, ""], none.stderr);
});
