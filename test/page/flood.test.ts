// A Pod that attacks the address of probes and metrics. The answers and what the attacker still holds are
// asserted, and how often metrics were rendered, never how long anything took.
import assert from "node:assert/strict";
import { get } from "node:http";
import { connect, Socket } from "node:net";
import { test, type TestContext } from "node:test";
import { serveHttp } from "../../src/run/probes.ts";
import { SingleRequest } from "../../src/page/single-request.ts";
import { eventually } from "../../packages/kube/testing/eventually.ts";
import { FakeClock } from "../../packages/kube/testing/fake-clock.ts";

const MOST = 128;
// Linux answers on all of 127.0.0.0/8, so that the attacker is another address than the kubelet.
const POD = process.platform === "linux" ? "127.0.0.2" : "127.0.0.1";
const METRICS = "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n";
const RENDERED = "metric 1\n".repeat(4000);

type Stage = {
  readonly clock: FakeClock;
  readonly renderings: () => number;
  readonly probe: (from: string) => Promise<string>;
  /** Connections of the Pod; each sends `text`. */
  readonly attack: (connections: number, text: string) => readonly Attacker[];
};
type Attacker = { readonly socket: Socket; readonly received: () => string };

async function stage(t: TestContext): Promise<Stage> {
  const clock = new FakeClock();
  let renderings = 0;
  const scrape = {
    contentType: "text/plain",
    metrics: () => {
      renderings++;
      return Promise.resolve(RENDERED);
    },
  };
  const health = { live: () => [], ready: () => [] };
  const server = await serveHttp({ host: "127.0.0.1", port: 0 }, health, scrape, clock);
  t.after(() => server.close());
  const { port } = server.address;
  const attack = (connections: number, text: string): readonly Attacker[] =>
    Array.from({ length: connections }, () => {
      const socket = connect({ port, host: "127.0.0.1", localAddress: POD });
      t.after(() => socket.destroy());
      let received = "";
      socket.on("data", (chunk: Buffer) => (received += chunk.toString()));
      socket.on("error", () => undefined);
      if (text !== "") socket.write(text);
      return { socket, received: () => received };
    });
  const probe = (from: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const path = "/healthz";
      get({ port, host: "127.0.0.1", localAddress: from, path, agent: false }, (response) => {
        response.resume();
        response.on("end", () => resolve(`${response.statusCode}`));
      }).on("error", reject);
    });
  return { clock, renderings: () => renderings, probe, attack };
}

const openOf = (attackers: readonly Attacker[]) =>
  attackers.filter(({ socket }) => !socket.closed).length;
const answersOf = ({ received }: Attacker) => received().split("HTTP/1.1 ").length - 1;
const settled = (attackers: readonly Attacker[]) =>
  eventually("every connection of the attacker is closed", () => openOf(attackers) === 0);

test("600 connections with four requests each get one rendering and at most one answer each", async (t) => {
  const { probe, attack, renderings } = await stage(t);
  const attackers = attack(600, METRICS.repeat(4));
  assert.equal(await probe("127.0.0.1"), "200");
  await settled(attackers);
  assert.equal(renderings(), 1);
  assert.ok(attackers.every((each) => answersOf(each) <= 1));
  assert.ok(attackers.some((each) => each.received().endsWith(RENDERED)));
});

for (const requests of [200, 20_000])
  test(`100 connections with ${requests} requests at once get one answer each`, async (t) => {
    const { probe, attack, renderings } = await stage(t);
    const attackers = attack(100, METRICS.repeat(requests));
    assert.equal(await probe("127.0.0.1"), "200");
    await settled(attackers);
    assert.equal(renderings(), 1);
    assert.ok(attackers.every((each) => answersOf(each) <= 1));
  });

for (const [what, text] of [
  ["idle connections", ""],
  ["slow senders", "GET /healthz HTT"],
] as const)
  test(`${what} hold ${MOST} connections at most, and probes are answered meanwhile`, async (t) => {
    const { clock, probe, attack } = await stage(t);
    const attackers = attack(600, text);
    await eventually("the attacker holds all that it can", () => openOf(attackers) <= MOST);
    assert.equal(await probe("127.0.0.1"), "200");
    assert.equal(await probe(POD), "200");
    assert.ok(openOf(attackers) > 0);
    await eventually("a head that is late closes its connection", async () => {
      await clock.advance(5000);
      return openOf(attackers) === 0;
    });
    assert.equal(clock.timers, 0);
  });

test("a head that never ends is refused at 8 KiB", async (t) => {
  const { probe, attack } = await stage(t);
  const attackers = attack(50, `GET /healthz HTTP/1.1\r\nHost: x\r\nA: ${"a".repeat(200_000)}`);
  assert.equal(await probe("127.0.0.1"), "200");
  await settled(attackers);
  assert.ok(attackers.every(({ received }) => !received().startsWith("HTTP/1.1 200")));
});

test("a request in pieces is answered, and what follows it is ignored", async (t) => {
  const { attack } = await stage(t);
  const [attacker] = attack(1, "");
  assert.ok(attacker);
  for (const piece of [
    "GET /healthz HTTP/1.1\r\nHost: x\r",
    "\n\r",
    "\nGET /metrics HTTP/1.1\r\n\r\n",
  ]) {
    attacker.socket.write(piece);
    await new Promise((resolve) => setImmediate(resolve));
  }
  await settled([attacker]);
  assert.match(
    attacker.received(),
    /^HTTP\/1\.1 200 OK\r\n[^]*Connection: close\r\n[^]*\r\n\r\nok\n$/,
  );
});

test("a line feed alone ends no head, so that it cannot hide further requests", async (t) => {
  const { attack } = await stage(t);
  const [attacker] = attack(1, "GET /healthz HTTP/1.1\nHost: x\n\n".repeat(50));
  assert.ok(attacker);
  await settled([attacker]);
  assert.match(attacker.received(), /^HTTP\/1\.1 400 /);
  assert.equal(answersOf(attacker), 1);
});

test("metrics are made anew each second, and unreadable ones are a 500", async (t) => {
  const { clock, attack, renderings } = await stage(t);
  await settled(attack(1, METRICS));
  await clock.advance(999);
  await settled(attack(1, METRICS));
  assert.equal(renderings(), 1);
  await clock.advance(1);
  await settled(attack(1, METRICS));
  assert.equal(renderings(), 2);
  const scrape = { contentType: "text/plain", metrics: () => Promise.reject(new Error("broken")) };
  const health = { live: () => [], ready: () => [] };
  const broken = await serveHttp({ host: "127.0.0.1", port: 0 }, health, scrape, clock);
  t.after(() => broken.close());
  assert.equal((await fetch(`http://127.0.0.1:${broken.address.port}/metrics`)).status, 500);
});

test("a connection without activity closes, so that a client that reads nothing holds no answer", () => {
  const clock = new FakeClock();
  const socket = new Socket();
  const request = new SingleRequest(socket, clock);
  assert.equal(socket.timeout, 30_000);
  socket.emit("timeout");
  assert.ok(socket.destroyed);
  request.destroy();
});
