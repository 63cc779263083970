// An OIDC user of a kubeconfig as kubectl takes it: the same file is given to kubectl and to us, with a provider
// and an API server on loopback. What both send, and what they write back, is the same.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { lstatSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync } from "node:fs";
import { dirname } from "node:path";
import {
  createServer as createProvider,
  type IncomingMessage,
  type ServerResponse,
} from "node:http";
import { createServer as createApi } from "node:https";
import type { AddressInfo, Server } from "node:net";
import { test, type TestContext } from "node:test";
import { promisify } from "node:util";
import { load } from "js-yaml";
import { loadKubeConfig } from "../../../packages/kube/kubeconfig/kubeconfig.ts";
import { createClient } from "../../../packages/kube/rest/client.ts";
import { systemClock } from "../../../packages/kube/time/clock.ts";
import { ONE } from "../../../packages/kube/testing/certificates.ts";
import { kubectlMissing } from "../../support/api-server/kubectl.ts";
import { writtenFile } from "../../../packages/kube/testing/kubeconfig-text.ts";

const run = promisify(execFile);

function idToken(exp: number, name = "x"): string {
  const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");
  return `${part({ alg: "RS256" })}.${part({ exp, name })}.c2ln`;
}

const LATER = 4_900_000_000;
const EXPIRED = idToken(1);
const FRESH = idToken(LATER, "fresh");

async function textOf(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of request.setEncoding("utf8")) text += String(chunk);
  return text;
}

async function listen(t: TestContext, server: Server & { closeAllConnections(): void }) {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  return (server.address() as AddressInfo).port;
}

type Provider = {
  readonly answer?: Readonly<Record<string, string>>;
  /** It takes the client's secret in the form alone. */
  readonly formOnly?: boolean;
  readonly status?: number;
};
type Config = Readonly<Record<string, string>>;
type Seen = {
  /** What the API server gets; undefined: no request. */
  readonly sent: string | undefined;
  /** What the provider is asked. */
  readonly asked: readonly string[];
  /** The tokens of the file afterwards. */
  readonly kept: unknown;
};

async function seen(
  t: TestContext,
  { answer = {}, formOnly = false, status = 200 }: Provider,
  config: (issuer: string) => Config,
  ask: (file: string) => Promise<void>,
): Promise<Seen> {
  const asked: string[] = [];
  const provider = createProvider((request, response) => void reply(request, response));
  const reply = async (request: IncomingMessage, response: ServerResponse): Promise<unknown> => {
    const form = new URLSearchParams(await textOf(request));
    form.sort();
    const { authorization = "" } = request.headers;
    asked.push(`${request.method} ${request.url} ${authorization} ${form.toString()}`);
    response.setHeader("content-type", "application/json");
    if (request.method === "GET")
      return response.end(JSON.stringify({ token_endpoint: `${issuer}/token` }));
    response.statusCode = formOnly && authorization !== "" ? 401 : status;
    return response.end(JSON.stringify({ access_token: "a", token_type: "bearer", ...answer }));
  };
  const issuer = `http://127.0.0.1:${await listen(t, provider)}`;
  let sent: string | undefined;
  const api = createApi(ONE, (request, response) => {
    sent ??= request.headers.authorization;
    response.setHeader("content-type", "application/json");
    response.end("{}");
  });
  const port = await listen(t, api);
  const file = writtenFile(
    t,
    JSON.stringify({
      apiVersion: "v1",
      kind: "Config",
      "current-context": "c",
      contexts: [{ name: "c", context: { cluster: "c", user: "u" } }],
      clusters: [
        {
          name: "c",
          cluster: { server: `https://127.0.0.1:${port}`, "insecure-skip-tls-verify": true },
        },
      ],
      users: [{ name: "u", user: { "auth-provider": { name: "oidc", config: config(issuer) } } }],
    }),
  );
  await ask(file).catch((error: unknown) => {
    if (error instanceof assert.AssertionError) throw error;
  });
  const root = load(readFileSync(file, "utf8")) as {
    readonly users: readonly [{ user: { "auth-provider": { config: Config } } }];
  };
  const after = root.users[0].user["auth-provider"].config;
  const kept = { id: after["id-token"], refresh: after["refresh-token"] };
  // kubectl tries a request of its own again.
  return { sent, asked: [...new Set(asked)], kept };
}

async function ours(file: string): Promise<void> {
  const client = createClient(loadKubeConfig({ kubeconfig: file }), {
    clock: systemClock,
    userAgent: "tests",
  });
  try {
    await client.request({ method: "GET", path: "/version", what: "ask" });
  } finally {
    await client.close();
  }
}

async function kubectl(file: string): Promise<void> {
  await run("kubectl", ["--kubeconfig", file, "get", "--raw", "/version"], { timeout: 30_000 });
}

const client = (issuer: string): Config => ({ "idp-issuer-url": issuer, "client-id": "cli" });

const CASES: readonly (readonly [string, Provider, (issuer: string) => Config, Partial<Seen>])[] = [
  [
    "a valid token is sent, and nobody is asked",
    {},
    (issuer) => ({ ...client(issuer), "id-token": FRESH, "refresh-token": "r" }),
    { sent: `Bearer ${FRESH}`, asked: [] },
  ],
  [
    "an expired token is refreshed, and both new tokens are written back",
    { answer: { id_token: FRESH, refresh_token: "r2" } },
    (issuer) => ({ ...client(issuer), "id-token": EXPIRED, "refresh-token": "r" }),
    { sent: `Bearer ${FRESH}`, kept: { id: FRESH, refresh: "r2" } },
  ],
  [
    "without an id-token the refresh token is used",
    { answer: { id_token: FRESH } },
    (issuer) => ({ ...client(issuer), "refresh-token": "r" }),
    { sent: `Bearer ${FRESH}`, kept: { id: FRESH, refresh: "r" } },
  ],
  [
    "the client's secret is sent in the form where the header is refused",
    { answer: { id_token: FRESH }, formOnly: true },
    (issuer) => ({ ...client(issuer), "client-secret": "a b/c", "refresh-token": "r" }),
    { sent: `Bearer ${FRESH}` },
  ],
  [
    "an answer without an id_token is refused",
    { answer: { refresh_token: "r2" } },
    (issuer) => ({ ...client(issuer), "id-token": EXPIRED, "refresh-token": "r" }),
    { sent: undefined, kept: { id: EXPIRED, refresh: "r" } },
  ],
  [
    "a refused refresh token ends it",
    { status: 400 },
    (issuer) => ({ ...client(issuer), "id-token": EXPIRED, "refresh-token": "r" }),
    { sent: undefined, kept: { id: EXPIRED, refresh: "r" } },
  ],
  [
    "an expired token without a refresh token is refused, and nobody is asked",
    {},
    (issuer) => ({ ...client(issuer), "id-token": EXPIRED }),
    { sent: undefined, asked: [] },
  ],
  [
    "a certificate authority that is not there is named",
    { answer: { id_token: FRESH } },
    (issuer) => ({
      ...client(issuer),
      "refresh-token": "r",
      "idp-certificate-authority": "/nowhere/ca.crt",
    }),
    { sent: undefined, asked: [] },
  ],
];

for (const [name, provider, config, expected] of CASES)
  test(`an OIDC user is taken as kubectl takes it: ${name}`, async (t) => {
    const own = await seen(t, provider, config, ours);
    assert.deepEqual({ ...own, ...expected }, own);
    if (kubectlMissing() === undefined)
      assert.deepEqual(own, await seen(t, provider, config, kubectl));
  });

test("refreshed tokens keep the rights of the kubeconfig, and an error quotes neither token", async (t) => {
  const config = (issuer: string): Config => ({
    ...client(issuer),
    "id-token": EXPIRED,
    "refresh-token": "hunter2",
  });
  let mode: number | undefined;
  await seen(t, { answer: { id_token: FRESH } }, config, async (file) => {
    await ours(file);
    mode = statSync(file).mode & 0o777;
  });
  assert.equal(mode, 0o600);
  await seen(t, { answer: { id_token: FRESH } }, config, async (file) => {
    const link = `${file}-link`;
    symlinkSync(file, link);
    await ours(link);
    assert.ok(lstatSync(link).isSymbolicLink(), "a link to the kubeconfig stays a link");
    assert.match(readFileSync(file, "utf8"), new RegExp(FRESH));
    const folder = readdirSync(dirname(file));
    assert.deepEqual(folder.toSorted(), ["config", "config-link"], "nothing else is left");
    rmSync(link);
  });
  let message = "";
  await seen(t, { status: 400 }, config, (file) =>
    ours(file).catch((error: unknown) => void (message = String(error))),
  );
  assert.match(message, /the provider refuses the refresh token \(400\): log in again/);
  assert.doesNotMatch(message, /hunter2|eyJ/);
});
