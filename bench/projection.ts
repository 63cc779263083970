// projection (github.com/projection-operator/projection) beside secretcast: built from its repository, with the
// arguments of its chart and an account that its chart would give it. BENCH_PROJECTION is the folder of its checkout
// with the program `manager` in it. Without the variable it is not measured.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { field } from "../packages/sandbox/testing/http.ts";
import { serviceAccountKubeconfig } from "../test/support/api-server/service-account.ts";
import { eventually } from "../packages/kube/testing/eventually.ts";
import type { RealCluster } from "./cluster.ts";
import type { How } from "./scorecard.ts";

const ACCOUNT = { namespace: "projection-system", name: "projection" };
const CUSTOM_RESOURCES = "/apis/projection.sh/v1/clusterprojections";
const ARGUMENTS = [
  "--health-probe-bind-address=127.0.0.1:0",
  "--metrics-bind-address=127.0.0.1:0",
  "--metrics-secure=true",
  "--source-mode=allowlist",
  "--requeue-interval=30s",
  "--selector-write-concurrency=16",
];

export class Projection {
  readonly #cluster: RealCluster;
  readonly #folder: string;
  readonly #kubeconfig: string;

  private constructor(cluster: RealCluster, folder: string, kubeconfig: string) {
    this.#cluster = cluster;
    this.#folder = folder;
    this.#kubeconfig = kubeconfig;
  }

  /** Installs its definitions and its account. */
  static async installed(cluster: RealCluster): Promise<Projection | undefined> {
    const folder = process.env["BENCH_PROJECTION"] ?? "";
    if (folder === "") return undefined;
    for (const file of globSync("charts/projection/crds/*.yaml", { cwd: folder })) {
      const body = readFileSync(join(folder, file), "utf8");
      const path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
      const { status } = await cluster.http.send("POST", path, {
        body,
        contentType: "application/yaml",
      });
      if (status !== 201) throw new Error(`${file}: the API server answered ${status}`);
    }
    await cluster.createNamespaces([ACCOUNT.namespace]);
    const accounts = `/api/v1/namespaces/${ACCOUNT.namespace}/serviceaccounts`;
    await cluster.send("POST", accounts, { metadata: { name: ACCOUNT.name } });
    // The chart's default: all verbs on all kinds.
    await cluster.send("POST", "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", {
      metadata: { name: ACCOUNT.name },
      roleRef: {
        apiGroup: "rbac.authorization.k8s.io",
        kind: "ClusterRole",
        name: "cluster-admin",
      },
      subjects: [{ kind: "ServiceAccount", ...ACCOUNT }],
    });
    await eventually("the definitions are served", async () => {
      return (await cluster.http.send("GET", CUSTOM_RESOURCES)).status === 200;
    });
    return new Projection(cluster, folder, await serviceAccountKubeconfig(cluster.access, ACCOUNT));
  }

  /** A Secret `shared/NAME` that is copied into every namespace with the label `team: TEAM`. */
  async publish(name: string, team: string): Promise<void> {
    const annotations = { "projection.sh/projectable": "true" };
    await this.#cluster.send("POST", "/api/v1/namespaces/shared/secrets", {
      metadata: { name, annotations },
      stringData: { value: "one" },
    });
    await this.#cluster.send("POST", CUSTOM_RESOURCES, {
      apiVersion: "projection.sh/v1",
      kind: "ClusterProjection",
      metadata: { name },
      spec: {
        source: { version: "v1", kind: "Secret", name, namespace: "shared" },
        destination: { namespaceSelector: { matchLabels: { team } } },
      },
    });
  }

  /** Stopped when the benchmark has ended. Resolves when it works: the projection `name` is ready. */
  async start(how: How, name: string): Promise<void> {
    const child = spawn(
      join(this.#folder, "manager"),
      [`--kubeconfig=${this.#kubeconfig}`, ...ARGUMENTS],
      { stdio: "ignore" },
    );
    how.after(async () => {
      if (child.exitCode !== null) return;
      child.kill("SIGKILL");
      await once(child, "exit");
    });
    await eventually(
      "projection is ready",
      async () => {
        if (child.exitCode !== null) throw new Error(`projection ended: ${child.exitCode}`);
        const one = await this.#cluster.send("GET", `${CUSTOM_RESOURCES}/${name}`);
        const conditions = field(one, "status", "conditions");
        return (
          Array.isArray(conditions) &&
          conditions.some(
            (each) => field(each, "type") === "Ready" && field(each, "status") === "True",
          )
        );
      },
      60_000,
    );
  }
}
