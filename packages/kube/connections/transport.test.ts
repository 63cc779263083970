import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { createSecureServer } from "node:http2";
import { createServer as createTlsServer } from "node:https";
import { connect } from "node:net";
import type { AddressInfo, Server, Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import { join } from "node:path";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { ApiError } from "../rest/api-error.ts";
import { createClient } from "../rest/client.ts";
import type { ApiClient, ApiRequest } from "../rest/api-client.ts";
import type { Cluster } from "../kubeconfig/kubeconfig-file.ts";
import { ONE, TWO } from "../testing/certificates.ts";
import type { Certificate } from "../testing/certificates.ts";
import { FakeClock } from "../testing/fake-clock.ts";
import { answer, serve } from "../testing/http-server.ts";
import { kubeConfigFor } from "../testing/kubeconfig-text.ts";
import { clientFor } from "../testing/client-for.ts";
import { folderOf } from "../testing/folder.ts";

const get: ApiRequest = { method: "GET", path: "/version", what: "get version" };
const base64 = (text: string): string => Buffer.from(text).toString("base64");

type Listening = { readonly port: number; readonly sockets: Set<Socket> };

async function listen(t: TestContext, server: Server): Promise<Listening> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => sockets.add(socket));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    return new Promise((resolve) => server.close(resolve));
  });
  return { port: (server.address() as AddressInfo).port, sockets };
}

/** Prefers HTTP/2, as a real API server does, and says what it was asked in. */
function secure(
  t: TestContext,
  certificate: Certificate,
  names: string[] = [],
): Promise<Listening> {
  const options = {
    ...certificate,
    allowHTTP1: true,
    SNICallback: (name: string, done: (error: null) => void) => {
      names.push(name);
      done(null);
    },
  };
  const server = createSecureServer(options, (request, response) => {
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ http: request.httpVersion, host: request.headers.host }));
  });
  return listen(t, server);
}

function client(
  t: TestContext,
  server: string,
  cluster: Partial<Cluster>,
  clock = new FakeClock(),
): ApiClient {
  return clientFor(t, kubeConfigFor(server, {}, cluster), { clock });
}

const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => "answered",
    (error: unknown) =>
      error instanceof ApiError ? `${error.kind} ${error.reason}` : String(error),
  );

test("a server that prefers HTTP/2 is spoken to in HTTP/1.1", async (t) => {
  const { port } = await secure(t, ONE);
  const api = client(t, `https://127.0.0.1:${port}`, { caData: base64(ONE.cert) });
  assert.deepEqual(await api.request(get), { http: "1.1", host: `127.0.0.1:${port}` });
});

test("the connections of a burst resume the TLS session that the first watch began", async (t) => {
  const reused: boolean[] = [];
  const server = createTlsServer(ONE, (request, response) => {
    reused.push((request.socket as TLSSocket).isSessionReused());
    answer(response, 200, {});
  });
  const { port } = await listen(t, server);
  const api = client(t, `https://127.0.0.1:${port}`, { caData: base64(ONE.cert) });
  for await (const _ of (await api.open(get)).body) continue;
  await Promise.all(Array.from({ length: 8 }, () => api.request(get)));
  assert.deepEqual(reused, [false, ...Array.from({ length: 8 }, () => true)]);
});

test("requests one after the other use the connections that are there, deletes with preconditions too", async (t) => {
  const server = await serve(t, (_, response) => answer(response, 200, {}));
  const api = client(t, server.url, {});
  const body = { preconditions: { uid: "u" } };
  for (let at = 0; at < 10; at++)
    await api.request({ method: at % 2 ? "POST" : "DELETE", path: "/x", body, what: "ask" });
  // undici rests a connection for one turn of the event loop, so two take turns.
  assert.ok(server.connections <= 2, `${server.connections} connections`);
});

test("a certificate that the cluster's CA did not sign is refused, unless verification is off", async (t) => {
  const { port } = await secure(t, ONE);
  const url = `https://127.0.0.1:${port}`;
  const refused = await codeOf(client(t, url, { caData: base64(TWO.cert) }).request(get));
  assert.match(refused, /^unavailable (?:DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED|UNABLE_TO)/);
  await assert.rejects(
    client(t, url, { caData: base64(TWO.cert) }).request(get),
    /no connection to https:\S+: its certificate is not trusted: set certificate-authority/,
  );
  assert.equal(await codeOf(client(t, url, { skipTLSVerify: true }).request(get)), "answered");
});

test("the server is asked and verified by tls-server-name", async (t) => {
  const names: string[] = [];
  const { port } = await secure(t, ONE, names);
  const url = `https://127.0.0.1:${port}`;
  const caData = base64(ONE.cert);
  const named = client(t, url, { caData, tlsServerName: "api.test" });
  assert.equal(await codeOf(named.request(get)), "answered");
  assert.deepEqual(names, ["api.test"]);
  const wrong = client(t, url, { caData, tlsServerName: "other.test" });
  assert.equal(await codeOf(wrong.request(get)), "unavailable ERR_TLS_CERT_ALTNAME_INVALID");
});

test("a changed CA file is used, and connections under the old one end", async (t) => {
  const folder = folderOf(t);
  const caFile = join(folder, "ca.crt");
  writeFileSync(caFile, ONE.cert);
  const { port, sockets } = await secure(t, ONE);
  const clock = new FakeClock();
  const api = client(t, `https://127.0.0.1:${port}`, { caFile }, clock);
  await api.request(get);
  await clock.advance(10_000);
  await api.request(get);
  assert.equal(sockets.size, 1, "the same file is no change");
  writeFileSync(caFile, TWO.cert);
  await clock.advance(10_000);
  assert.match(await codeOf(api.request(get)), /^unavailable /);
  writeFileSync(caFile, `${TWO.cert}${ONE.cert}`);
  await clock.advance(10_000);
  assert.equal(await codeOf(api.request(get)), "answered");
});

/** A proxy that opens tunnels, and counts them. */
async function tunnels(t: TestContext): Promise<{ readonly url: string; readonly to: string[] }> {
  const to: string[] = [];
  const proxy = createServer((_, response) => response.writeHead(501).end());
  proxy.on("connect", (request, socket: Socket) => {
    to.push(request.url ?? "");
    const port = Number(request.url?.split(":")[1]);
    const onward = connect(port, "127.0.0.1", () => socket.write("HTTP/1.1 200 OK\r\n\r\n"));
    onward.on("error", () => socket.destroy()).on("close", () => socket.destroy());
    socket.on("error", () => onward.destroy()).on("close", () => onward.destroy());
    onward.pipe(socket).pipe(onward);
  });
  const { port } = await listen(t, proxy);
  return { url: `http://127.0.0.1:${port}`, to };
}

test("proxy-url is honoured: requests and watches go through tunnels, to https and http servers", async (t) => {
  const proxy = await tunnels(t);
  const { port } = await secure(t, ONE);
  const cluster = { proxyUrl: proxy.url, caData: base64(ONE.cert) };
  const api = client(t, `https://127.0.0.1:${port}`, cluster);
  assert.deepEqual(await api.request(get), { http: "1.1", host: `127.0.0.1:${port}` });
  const plain = await serve(t, (request, response) => {
    if (request.url === "/version") answer(response, 200, {});
    else response.writeHead(200, { "content-type": "application/json" }).write("{");
  });
  const other = client(t, plain.url, { proxyUrl: proxy.url });
  const watches = [
    await other.open({ ...get, path: "/a" }),
    await other.open({ ...get, path: "/b" }),
  ];
  assert.equal(await codeOf(other.request(get)), "answered");
  for (const watch of watches) watch.close();
  const tunnelled = [`127.0.0.1:${port}`, ...Array<string>(3).fill(`127.0.0.1:${plain.port}`)];
  assert.deepEqual(proxy.to, tunnelled);
});

test("a proxy-url that cannot be used is refused at once", () => {
  const config = kubeConfigFor("http://127.0.0.1:1", {}, { proxyUrl: "socks4://127.0.0.1:1" });
  assert.throws(() => createClient(config, { clock: new FakeClock(), userAgent: "test" }), {
    message:
      'the proxy (proxy-url of the cluster, else HTTPS_PROXY or HTTP_PROXY) must begin with http://, https:// or socks5://, not "socks4:"',
  });
});

test("after a request without an answer the next ones get new connections", async (t) => {
  const clock = new FakeClock();
  let silent = false;
  const held: (() => void)[] = [];
  const server = await serve(t, (_, response) => {
    if (silent) held.push(() => response.destroy());
    else answer(response, 200, {});
  });
  const api = client(t, server.url, {}, clock);
  await Promise.all([api.request(get), api.request(get), api.request(get)]);
  const before = server.connections;
  silent = true;
  const lost = codeOf(api.request({ ...get, timeoutMs: 1000 }));
  while (held.length === 0) await new Promise((resolve) => setImmediate(resolve));
  await clock.advance(1000);
  assert.equal(await lost, "timeout NoAnswer");
  silent = false;
  await api.request(get);
  assert.equal(server.connections, before + 1);
});
