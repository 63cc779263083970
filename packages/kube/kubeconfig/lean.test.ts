// client-node with its models would be a third of an idle controller's memory: only a user whose
// credentials it must fetch may load it.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import type { TestContext } from "node:test";
import type { TLSSocket } from "node:tls";
import type { Cluster, User } from "./kubeconfig-file.ts";
import type { KubeConfigOptions } from "./kubeconfig.ts";
import { ONE, TWO } from "../testing/certificates.ts";
import { kubeConfigFile, kubeConfigFor } from "../testing/kubeconfig-text.ts";
import { folderOf } from "../testing/folder.ts";

const base64 = (text: string): string => Buffer.from(text).toString("base64");

type Ended = {
  readonly code: number | null;
  readonly loaded: readonly string[];
  readonly files: readonly string[];
};

/** Runs a program to its end; answers with the packages that it loaded anything of. */
async function run(t: TestContext, words: readonly string[]): Promise<Ended> {
  const list = join(folderOf(t), "modules");
  const args = ["--import", "./test/support/programs/loaded-modules.ts", ...words];
  const env = { ...process.env, LOADED_MODULES: list };
  const child = spawn(process.execPath, args, { env, stdio: ["ignore", "ignore", "inherit"] });
  await once(child, "exit");
  const text = readFileSync(list, "utf8");
  const packages = text.matchAll(/\/node_modules\/((?:@[^/\n]+\/)?[^/\n]+)\//g);
  return {
    code: child.exitCode,
    loaded: [...new Set(Array.from(packages, ([, name = ""]) => name))],
    files: text.split("\n"),
  };
}

type Heard = { readonly port: number; readonly credentials: readonly string[] };

/** An API server that trusts TWO's client certificate and writes down who asked. */
async function listen(t: TestContext): Promise<Heard> {
  const credentials: string[] = [];
  const options = { ...ONE, ca: TWO.cert, requestCert: true, rejectUnauthorized: false };
  const server = createServer(options, (request, response) => {
    const { authorization = "", "impersonate-user": as = "" } = request.headers;
    const shown = (request.socket as TLSSocket).authorized ? "certificate" : "";
    credentials.push([authorization, String(as), shown].filter((word) => word !== "").join(" "));
    response.writeHead(200, { "content-type": "application/json" }).end("{}");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => new Promise((resolve) => server.close(resolve)));
  return { port: (server.address() as AddressInfo).port, credentials };
}

test("a service account and every user without a plugin are served without loading client-node", async (t) => {
  const { port, credentials } = await listen(t);
  const files = folderOf(t);
  const at = (name: string, text: string): string => {
    writeFileSync(join(files, name), text);
    return join(files, name);
  };
  const trusted = { caData: base64(ONE.cert) };
  const kubeconfig = (user: Partial<User>, cluster: Partial<Cluster>): KubeConfigOptions => ({
    kubeconfig: kubeConfigFile(t, kubeConfigFor(`https://127.0.0.1:${port}`, user, cluster)),
  });
  const account = join(files, "var/run/secrets/kubernetes.io/serviceaccount");
  mkdirSync(account, { recursive: true });
  writeFileSync(join(account, "token"), "of-the-pod");
  writeFileSync(join(account, "ca.crt"), ONE.cert);
  const env = { KUBERNETES_SERVICE_HOST: "127.0.0.1", KUBERNETES_SERVICE_PORT: String(port) };
  const asked: readonly KubeConfigOptions[] = [
    { inCluster: true, env, root: files },
    kubeconfig({ token: "t1" }, trusted),
    kubeconfig({ tokenFile: at("token", "t2\n"), token: "old" }, { caFile: at("ca", ONE.cert) }),
    kubeconfig({ username: "u", password: "p", impersonateUser: "jane" }, { skipTLSVerify: true }),
    kubeconfig({ certFile: at("cert", TWO.cert), keyFile: at("key", TWO.key) }, trusted),
    kubeconfig(
      { certData: base64(TWO.cert), keyData: base64(TWO.key) },
      { ...trusted, tlsServerName: "api.test" },
    ),
    kubeconfig({}, trusted),
  ];
  const { code, loaded } = await run(t, ["test/support/programs/ask.ts", JSON.stringify(asked)]);
  assert.equal(code, 0);
  assert.deepEqual(credentials, [
    "Bearer of-the-pod",
    "Bearer t1",
    "Bearer t2",
    "Basic dTpw jane",
    "certificate",
    "certificate",
    "",
  ]);
  assert.deepEqual(loaded.toSorted(), ["fast-deep-equal", "js-yaml", "undici"]);
});

test("a user with an auth provider loads client-node at the first request", async (t) => {
  const { port, credentials } = await listen(t);
  const print = JSON.stringify(JSON.stringify({ status: { token: "of-the-plugin" } }));
  const apiVersion = "client.authentication.k8s.io/v1beta1";
  const exec = { apiVersion, command: process.execPath, args: ["-p", print] };
  const config = { "access-token": "of-the-provider", expiry: "2126-01-01T00:00:00Z" };
  const ask = async (user: Partial<User>) => {
    const at = kubeConfigFor(`https://127.0.0.1:${port}`, user, { skipTLSVerify: true });
    const asked = JSON.stringify([{ kubeconfig: kubeConfigFile(t, at) }]);
    return run(t, ["test/support/programs/ask.ts", asked]);
  };
  const plugin = await ask({ exec });
  const provider = await ask({ authProvider: { name: "gcp", config } });
  assert.deepEqual([plugin.code, provider.code], [0, 0]);
  assert.deepEqual(credentials, ["Bearer of-the-plugin", "Bearer of-the-provider"]);
  assert.ok(!plugin.loaded.includes("@kubernetes/client-node"));
  assert.ok(provider.loaded.includes("@kubernetes/client-node"));
});

test("the whole controller on the demonstration's API does not load client-node", async (t) => {
  const { code, loaded } = await run(t, ["bin/secretcast.js", "sandbox", "--once"]);
  assert.equal(code, 0);
  assert.ok(loaded.includes("undici"));
  assert.ok(!loaded.includes("@kubernetes/client-node"));
});

test("the whole controller loads only the parts of undici that talk to one server", async (t) => {
  const { code, files } = await run(t, ["bin/secretcast.js", "sandbox", "--once"]);
  assert.equal(code, 0);
  const parts = files.filter((file) => file.includes("/node_modules/undici/"));
  assert.ok(parts.some((file) => file.endsWith("/lib/dispatcher/agent.js")));
  assert.deepEqual(
    parts.filter((file) => /undici\/index\.js$|\/(web|mock|cache|interceptor)\//.test(file)),
    [],
  );
});
