// Credentials that come from somewhere else than the kubeconfig: files that change, a plugin's
// certificate, and the auth providers of old kubeconfigs.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { createServer } from "node:https";
import type { RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import type { TestContext } from "node:test";
import type { TLSSocket } from "node:tls";
import {
  CredentialCache,
  CredentialsError,
} from "../../../packages/kube/kubeconfig/credentials.ts";
import type { Credentials } from "../../../packages/kube/kubeconfig/credentials.ts";
import type { Cluster, User } from "../../../packages/kube/kubeconfig/kubeconfig-file.ts";
import { ONE, TWO } from "../../../packages/kube/testing/certificates.ts";
import { FakeClock } from "../../../packages/kube/testing/fake-clock.ts";
import { answer } from "../../../packages/kube/testing/http-server.ts";
import { kubeConfigFile, kubeConfigFor } from "../../../packages/kube/testing/kubeconfig-text.ts";
import { clientFor } from "../../../packages/kube/testing/client-for.ts";
import { commandLine } from "../../support/programs/command-line.ts";
import { folderOf } from "../../../packages/kube/testing/folder.ts";

const base64 = (text: string): string => Buffer.from(text).toString("base64");

function read(user: Partial<User>, cluster: Partial<Cluster> = {}): Promise<Credentials> {
  const config = kubeConfigFor("https://localhost", user, cluster);
  return new CredentialCache(config, new FakeClock()).get();
}

/** Speaks TLS with ONE's certificate and asks for a client's. */
async function secure(t: TestContext, listener: RequestListener): Promise<string> {
  const options = { ...ONE, ca: [ONE.cert, TWO.cert], requestCert: true };
  const server = createServer({ ...options, rejectUnauthorized: false }, listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  return `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const V1_BETA = "client.authentication.k8s.io/v1beta1";

test("a client certificate that is renewed in its files is shown within ten seconds", async (t) => {
  const url = await secure(t, (request, response) => {
    answer(response, 200, { shown: (request.socket as TLSSocket).getPeerCertificate().subject });
  });
  const [certFile, keyFile] = [join(folderOf(t), "cert"), join(folderOf(t), "key")];
  const renew = ({ cert, key }: typeof ONE): void => {
    writeFileSync(certFile, cert);
    writeFileSync(keyFile, key);
  };
  renew(ONE);
  const clock = new FakeClock();
  const config = kubeConfigFor(url, { certFile, keyFile }, { caData: base64(ONE.cert) });
  const client = clientFor(t, config, { clock });
  const shown = () => client.request({ method: "GET", path: "/", what: "get version" });
  assert.deepEqual(await shown(), { shown: { CN: "one" } });
  renew(TWO);
  await clock.advance(10_000);
  assert.deepEqual(await shown(), { shown: { CN: "two" } });
});

test("a file that cannot be read is named, whatever it is for", async (t) => {
  const none = join(folderOf(t), "none");
  const empty = join(folderOf(t), "empty");
  writeFileSync(empty, "\n");
  const cases = [
    [read({}, { caFile: none }), `file "${none}" cannot be read (ENOENT)`],
    [read({ certFile: none }), `file "${none}" cannot be read (ENOENT)`],
    [read({ keyFile: none }), `file "${none}" cannot be read (ENOENT)`],
    [read({ tokenFile: none }), `token file "${none}" cannot be read (ENOENT)`],
    [read({ tokenFile: empty }), `token file "${empty}" is empty`],
    [
      read({ exec: { apiVersion: V1_BETA, command: none } }),
      `credential plugin "${none}" of user "tester" was not found`,
    ],
  ] as const;
  for (const [work, message] of cases)
    await assert.rejects(work, (error) => {
      assert.ok(error instanceof CredentialsError);
      assert.equal(error.message, message);
      return true;
    });
});

test("a token counts while its token file has none, and a key with its certificate", async (t) => {
  const folder = folderOf(t, { token: "of the file", empty: "" });
  for (const [file, token] of [
    ["token", "of the file"],
    ["empty", "t"],
    ["none", "t"],
  ] as const)
    assert.deepEqual(
      (await read({ tokenFile: join(folder, file), token: "t" })).headers,
      { Authorization: `Bearer ${token}` },
      file,
    );
  const { tls } = await read({ token: "t", keyData: base64(TWO.key) });
  assert.equal(tls.key, undefined);
});

test("a plugin's certificate joins the cluster's CA, and a kubeconfig's token precedes a plugin's", async () => {
  const status = { token: "of-plugin", clientCertificateData: TWO.cert, clientKeyData: TWO.key };
  const print = JSON.stringify(JSON.stringify({ status }));
  const exec = { apiVersion: V1_BETA, command: process.execPath, args: ["-p", print] };
  const cluster = { caData: base64(ONE.cert), tlsServerName: "api.test" };
  const { headers, tls } = await read({ exec, username: "u", impersonateUser: "jane" }, cluster);
  assert.deepEqual(headers, { Authorization: "Bearer of-plugin", "Impersonate-User": "jane" });
  assert.deepEqual(tls, {
    ca: Buffer.from(ONE.cert),
    cert: TWO.cert,
    key: TWO.key,
    servername: "api.test",
    rejectUnauthorized: undefined,
  });
  assert.deepEqual((await read({ exec, token: "t" })).headers, { Authorization: "Bearer t" });
});

test("gcp and azure users send their access token", async () => {
  for (const name of ["gcp", "azure"]) {
    const config = { "access-token": name, expiry: "2126-01-01T00:00:00Z" };
    const { headers } = await read({ authProvider: { name, config } });
    assert.deepEqual(headers, { Authorization: `Bearer ${name}` });
  }
});

/** A token as OIDC issues it; nobody here checks its signature. */
function idToken(claims: Readonly<Record<string, unknown>>): string {
  const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");
  return `${part({ alg: "RS256" })}.${part(claims)}.${base64("x")}`;
}

test("an OIDC user sends a valid token and learns that it is invalid", async () => {
  const valid = idToken({ exp: 4_900_000_000 });
  const oidc = (config: Readonly<Record<string, string>>): Partial<User> => ({
    authProvider: { name: "oidc", config: { "client-id": "cli", "refresh-token": "r", ...config } },
  });
  const { headers } = await read(oidc({ "id-token": valid }));
  assert.deepEqual(headers, { Authorization: `Bearer ${valid}` });
  const expired = { "id-token": idToken({ exp: 1 }), "idp-issuer-url": "https://127.0.0.1:1" };
  await assert.rejects(
    read(oidc(expired)),
    /^CredentialsError: auth provider "oidc" of user "tester": cannot reach https:\/\/127\.0\.0\.1:1 \(ECONNREFUSED\)$/,
  );
});

test("a token, user or group that no header can hold is named unquoted", async () => {
  for (const [user, header] of [
    [{ token: "hunter2\n" }, "Authorization"],
    [{ token: "a\rhunter2" }, "Authorization"],
    [{ impersonateUser: "hunter2\n" }, "Impersonate-User"],
    [{ impersonateUser: "jane", impersonateGroups: ["a", "hunter2\u0000"] }, "Impersonate-Group"],
    [{ impersonateUser: "jane", impersonateExtra: { a: ["hunter2\n"] } }, "Impersonate-Extra-a"],
  ] as const)
    await assert.rejects(read(user), (error) => {
      assert.ok(error instanceof CredentialsError);
      assert.match(
        error.message,
        new RegExp(`^the ${header} header for user "tester" is not valid: `),
      );
      assert.doesNotMatch(error.message, /hunter2/);
      return true;
    });
});

test("an invalid token is one line of a command without a request", async (t) => {
  const kubeconfig = kubeConfigFile(t, kubeConfigFor("http://127.0.0.1:1", { token: "a\nb" }));
  const { code, stderr } = await commandLine(["plan", "--kubeconfig", kubeconfig]);
  assert.equal(code, 1);
  assert.match(
    stderr,
    /^secretcast: [^\n]*the Authorization header for user "tester" is not valid[^\n]*\n$/,
  );
});
