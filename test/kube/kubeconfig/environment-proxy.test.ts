// HTTPS_PROXY, HTTP_PROXY and NO_PROXY as Go's net/http/httpproxy takes them, and so kubectl. The rows are
// compared with kubectl itself in test/cluster/kubeconfig.test.ts.
import assert from "node:assert/strict";
import { test } from "node:test";
import { environmentProxy } from "../../../packages/kube/kubeconfig/environment-proxy.ts";
import { loadKubeConfig } from "../../../packages/kube/kubeconfig/kubeconfig.ts";
import { kubeConfigFile, kubeConfigFor } from "../../../packages/kube/testing/kubeconfig-text.ts";
import { commandLine } from "../../support/programs/command-line.ts";
import { PROXIED } from "../../support/kube/proxied-servers.ts";

for (const [name, server, env, isProxied] of PROXIED)
  test(`the environment's proxy: ${name}`, () => {
    const proxy = environmentProxy(server, { HTTPS_PROXY: "http://proxy.test:3128", ...env });
    assert.equal(proxy, isProxied ? "http://proxy.test:3128" : undefined);
  });

test("the environment's proxy is chosen by scheme, in either case, and defaults to http", () => {
  const of = (server: string, env: Readonly<Record<string, string>>) =>
    environmentProxy(server, env);
  const both = { HTTPS_PROXY: "http://s.test:1", HTTP_PROXY: "http://p.test:1" };
  assert.equal(of("https://api.test", both), "http://s.test:1");
  assert.equal(of("http://api.test", both), "http://p.test:1");
  assert.equal(of("https://api.test", { HTTP_PROXY: "http://p.test:1" }), undefined);
  assert.equal(of("https://api.test", { ALL_PROXY: "http://p.test:1" }), undefined);
  assert.equal(of("https://api.test", { https_proxy: "p.test:8080" }), "http://p.test:8080");
  assert.equal(of("https://api.test", { HTTPS_PROXY: "", https_proxy: "p.test" }), "http://p.test");
  assert.equal(of("https://api.test", { HTTPS_PROXY: "socks5h://p.test:1" }), "socks5://p.test:1");
  const upper = { ...both, https_proxy: "http://lower.test:1" };
  assert.equal(of("https://api.test", upper), "http://s.test:1");
});

test("proxy-url counts before the environment, and the environment counts where it is absent", (t) => {
  const env = { HTTPS_PROXY: "http://proxy.test:3128" };
  const of = (proxyUrl?: string) => {
    const cluster = proxyUrl === undefined ? {} : { proxyUrl };
    const kubeconfig = kubeConfigFile(t, kubeConfigFor("https://api.test:6443", {}, cluster));
    return loadKubeConfig({ kubeconfig, env }).cluster.proxyUrl;
  };
  assert.equal(of(), "http://proxy.test:3128");
  assert.equal(of("http://own.test:1"), "http://own.test:1");
});

test("a proxy that cannot be reached is named without its password", async (t) => {
  const kubeconfig = kubeConfigFile(t, kubeConfigFor("https://api.test:6443"));
  const env = { HTTPS_PROXY: "http://jane:hunter2@127.0.0.1:1" };
  const { code, stderr } = await commandLine(["plan", "--kubeconfig", kubeconfig], { env });
  assert.equal(code, 1);
  assert.match(stderr, /cannot reach https:\/\/api\.test:6443 through the proxy 127\.0\.0\.1:1\n$/);
  assert.doesNotMatch(stderr, /hunter2/);
});
