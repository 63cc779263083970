// Which Deployment gives the settings, when anybody can create one with the label in a namespace of their own.
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  findController,
  type Installed,
} from "../../../src/inspect/cluster/installed-controller.ts";
import { readPlanningSettings } from "../../../src/inspect/cluster/planning-settings.ts";
import type { ApiClient, ApiRequest } from "../../../packages/kube/rest/api-client.ts";
import { ApiError } from "../../../packages/kube/rest/api-error.ts";
import { Reachability } from "../../../packages/kube/rest/reachability.ts";
import { systemClock } from "../../../packages/kube/time/clock.ts";

type Deployment = { readonly namespace: string; readonly name: string };
type Given = {
  readonly deployments: readonly Deployment[];
  /** Namespaces of accounts that may list Namespaces. */
  readonly proven?: readonly string[];
  /** The only namespaces that the user may list. Undefined: all of the cluster. */
  readonly readable?: readonly string[];
};

const A_PAGE = 50;
const PATH = /^\/apis\/apps\/v1\/(?:namespaces\/([^/]+)\/)?deployments$/;

function server({ deployments, proven = [], readable }: Given): ApiClient {
  const answer = ({ path, query, body }: ApiRequest): unknown => {
    if (path.endsWith("/subjectaccessreviews")) {
      const { user } = (body as { spec: { user: string } }).spec;
      return { status: { allowed: proven.includes(user.split(":")[2] ?? "") } };
    }
    const [, namespace] = PATH.exec(path) ?? [];
    if (readable && !(namespace !== undefined && readable.includes(namespace)))
      throw new ApiError("list", { kind: "forbidden", status: 403, reason: "Forbidden" });
    const all = deployments.filter((each) => (namespace ?? each.namespace) === each.namespace);
    const from = Number(query?.["continue"] ?? 0);
    const args = ["run", "--source-namespaces=of-the-pod"];
    const items = all.slice(from, from + A_PAGE).map((metadata) => ({
      metadata,
      spec: { template: { spec: { containers: [{ name: "secretcast", args }] } } },
    }));
    const next = from + A_PAGE < all.length ? String(from + A_PAGE) : "";
    return { metadata: { continue: next }, items };
  };
  return {
    server: "https://test",
    reachability: new Reachability(systemClock),
    request: <T>(request: ApiRequest) => new Promise<T>((resolve) => resolve(answer(request) as T)),
    open: () => Promise.reject(new Error("test: nothing is opened")),
    close: () => Promise.resolve(),
  };
}

const HOME = { lease: "secretcast", isNamed: false, current: "default" };

async function found(given: Given, home: Partial<typeof HOME> = {}): Promise<string> {
  const { signal } = new AbortController();
  const installed = await findController(server(given), { ...HOME, ...home }, signal);
  return installed.kind === "found" ? nameOf(installed) : installed.kind;
}

function nameOf({ controller }: Extract<Installed, { kind: "found" }>): string {
  return `${controller.namespace}/${controller.name}`;
}

function tenants(count: number): readonly Deployment[] {
  return Array.from({ length: count }, (_, n) => ({ namespace: "aaa-evil", name: `c-${n}` }));
}

const OWN = { namespace: "secretcast", name: "secretcast" };
const ELSEWHERE = { namespace: "ops", name: "secretcast" };

test("a tenant's Deployments never hide the controller in the namespace of the Lease", async () => {
  for (const count of [1, 60, 600])
    assert.equal(
      await found({ deployments: [...tenants(count), OWN] }),
      "secretcast/secretcast",
      `${count}`,
    );
});

test("a tenant's Deployment alone is not taken", async () => {
  assert.equal(await found({ deployments: tenants(1) }), "several");
  assert.equal(await found({ deployments: tenants(60) }), "several");
});

test("elsewhere, the account with rights in the cluster is the controller's", async () => {
  const given = { deployments: [...tenants(3), ELSEWHERE], proven: ["ops"] };
  assert.equal(await found(given), "ops/secretcast");
  assert.equal(await found({ deployments: [ELSEWHERE], proven: ["ops"] }), "ops/secretcast");
});

test("a namespace that the user names decides", async () => {
  const given = { deployments: [OWN, ELSEWHERE] };
  assert.equal(await found(given, { lease: "ops", isNamed: true }), "ops/secretcast");
  assert.equal(await found(given, { lease: "third", isNamed: true }), "several");
});

test("without rights in the cluster, the current namespace is looked in", async () => {
  const given = { deployments: [ELSEWHERE], readable: ["ops"] };
  assert.equal(await found(given, { current: "ops" }), "ops/secretcast");
  assert.equal(await found(given, { current: "team-a" }), "unknown");
  assert.equal(await found({ deployments: [], readable: ["ops"] }, { current: "ops" }), "unknown");
});

test("unclear settings say what to pass, unless the source namespaces are given", () => {
  const program = { env: {} };
  const several: Installed = { kind: "several", names: ["a/x", "b/x"] };
  for (const installed of [several, { kind: "unknown" }] as const) {
    assert.match(
      readPlanningSettings({}, program, installed).unclear ?? "",
      /pass --lease-namespace, or --source-namespaces/,
    );
    const given = { "source-namespaces": "platform" };
    assert.equal(readPlanningSettings(given, program, installed).unclear, undefined);
  }
  assert.equal(readPlanningSettings({}, program, { kind: "none" }).unclear, undefined);
});
