// A cluster with an installed controller: before the scene's API server, a Deployment, its pod, and a port-forward to
// the page of a controller in this process.
import { createServer, request as httpRequest } from "node:http";
import { writeFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { readConfig, type FlagValues } from "../../../src/controller/settings/config.ts";
import { createLog } from "../../../src/controller/report/log.ts";
import { runController } from "../../../src/run/run.ts";
import { bridge } from "../api-server/pod-socket.ts";
import { kubeConfigFor, kubeConfigText } from "../../../packages/kube/testing/kubeconfig-text.ts";
import { folderOf } from "../../../packages/kube/testing/folder.ts";
import { eventually } from "../../../packages/kube/testing/eventually.ts";
import type { Scene } from "./scene.ts";

export const POD = "secretcast-5d8f7c9b6-x2k4p";
export const DEPLOYMENTS = "/apis/apps/v1/deployments";
export const PODS = "/api/v1/namespaces/secretcast/pods";

export type Front = {
  readonly kubeconfig: string;
  /** Answers before the API server does; by path. */
  readonly answers: Map<string, { readonly status: number; readonly body: unknown }>;
  allowed: boolean;
  /** What the pod's port is here; undefined: the kubelet does not answer. */
  page: number | undefined;
};

/** The scene's API server, with a Deployment and a pod before it. */
export async function installedFront(t: TestContext, scene: Scene): Promise<Front> {
  const folder = folderOf(t);
  const args = [
    "run",
    "--leader-elect",
    `--source-namespaces=${String(scene.flags()["source-namespaces"])}`,
    "--delete-grace=1s",
  ];
  const labels = { "app.kubernetes.io/name": "secretcast" };
  const deployment = {
    metadata: { namespace: "secretcast", name: "secretcast", labels },
    spec: { template: { spec: { containers: [{ name: "secretcast", args }] } } },
  };
  const pod = {
    metadata: { namespace: "secretcast", name: POD, labels },
    status: { phase: "Running" },
  };
  const made: Front = {
    kubeconfig: join(folder, "kubeconfig"),
    answers: new Map([
      [DEPLOYMENTS, { status: 200, body: { kind: "DeploymentList", items: [deployment] } }],
      [PODS, { status: 200, body: { kind: "PodList", items: [pod] } }],
    ]),
    allowed: true,
    page: undefined,
  };
  const upstream = new URL(scene.sandbox?.url ?? "");
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? "/", upstream);
    const known = made.answers.get(pathname);
    const review = pathname.endsWith("/selfsubjectaccessreviews");
    if (known || review) {
      const { status, body } = known ?? {
        status: 201,
        body: { status: { allowed: made.allowed } },
      };
      response.writeHead(status, { "content-type": "application/json" });
      response.end(JSON.stringify(body));
      return;
    }
    const { method, headers, url } = request;
    const on = httpRequest(
      new URL(url ?? "/", upstream),
      { method: method ?? "GET", headers },
      (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      },
    );
    request.pipe(on);
  });
  server.on("upgrade", (request, socket) => {
    const { page } = made;
    const there = (request.url ?? "").startsWith(`${PODS}/${POD}/portforward?ports=8081`);
    if (page !== undefined && there) bridge(request, socket, page);
    else socket.end("HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\n\r\n");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const user = scene.access.user.token ?? "";
  writeFileSync(
    made.kubeconfig,
    kubeConfigText(kubeConfigFor(`http://127.0.0.1:${port}`, { token: user })),
  );
  return made;
}

/** A controller with its page on a port. */
export async function pageOf(
  t: TestContext,
  scene: Scene,
  flags: FlagValues = scene.flags(),
): Promise<{ readonly port: number; readonly stop: () => Promise<void> }> {
  const config = readConfig(flags, {
    env: {},
    clusterNamespace: undefined,
    terminal: false,
  });
  const stop = new AbortController();
  let url = "";
  const log = createLog(config, { write: () => true });
  const program = { signal: stop.signal, version: "9.9.9" };
  const ended = runController(config, scene.access, program, log, {
    onServing: (at) => (url = at),
  });
  const end = async (): Promise<void> => {
    stop.abort();
    await ended;
  };
  t.after(end);
  await eventually("it serves its page", () => url !== "");
  return { port: Number(new URL(url).port), stop: end };
}
