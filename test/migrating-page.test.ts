// The transcripts of docs/migrating.md and docs/migrating-kyverno.md, and those in migrate/transcripts.md, are what the
// commands print, for each tool on a small cluster as it leaves one. `UPDATE_README=1 npm test -- test/migrating-page.test.ts` writes them anew.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test, type TestContext } from "node:test";
import { pluralOf } from "../src/migrate/oldtools/old-objects.ts";
import { OLD_TOOLS } from "../src/migrate/oldtools/old-tool.ts";
import { OLD_TOOL } from "../src/migrate/oldtools/old-tools.ts";
import type { ApiClient } from "../packages/kube/rest/api-client.ts";
import { createClient } from "../packages/kube/rest/client.ts";
import { NAMESPACES, resourcePath, SECRETS } from "../packages/kube/rest/resource.ts";
import { systemClock } from "../packages/kube/time/clock.ts";
import { startSandbox } from "../packages/sandbox/server.ts";
import { startFaultProxy } from "../packages/kube/testing/fault-proxy.ts";
import { listBody } from "./support/api-server/list-body.ts";
import { kubeConfigFile, kubeConfigFor } from "../packages/kube/testing/kubeconfig-text.ts";
import { FLAGS } from "../src/controller/settings/flags.ts";
import { ANNOTATION_NAMES } from "../src/controller/annotations/vocabulary.ts";
import { VERDICTS } from "../src/controller/model/verdicts.ts";
import { applied } from "./support/worlds/kubectl-lines.ts";
import { tableRows } from "./support/documents/markdown.ts";
import { assertTranscript } from "./support/documents/transcripts.ts";
import { onAnyMachine, commandLine } from "./support/programs/command-line.ts";

type Tool = (typeof OLD_TOOLS)[number];

const FOR_ALL = new URL("../docs/migrating.md", import.meta.url);
/** The pages show two moves. Those from the other tools differ in names only, and are beside the tests. */
const SHOWN: Partial<Record<Tool, URL>> = {
  reflector: FOR_ALL,
  kyverno: new URL("../docs/migrating-kyverno.md", import.meta.url),
};
const OTHERS = new URL("migrate/transcripts.md", import.meta.url);

type Texts = Readonly<Record<string, string>>;
type OfAKind = { readonly kind: string } & Readonly<Record<string, unknown>>;
type Marks = { readonly annotations?: Texts; readonly labels?: Texts };
type Small = {
  /** Annotations and labels of the source, and of its copies in the namespaces of the teams. */
  readonly source: Texts | undefined;
  readonly place: string;
  readonly copy: (uid: string, namespaceUid: string) => Marks;
  /** Objects of the tool's own kinds. */
  readonly customs?: readonly OfAKind[];
  /** Between the steps, its rules are changed by the commands that are printed. */
  readonly byHand?: boolean;
};

const DATA = { token: Buffer.from("made up").toString("base64") };
const EDITED = { token: Buffer.from("edited by its tenant").toString("base64") };

const REGISTRY = {
  secretStoreRef: { kind: "ClusterSecretStore", name: "platform" },
  target: { creationPolicy: "Orphan" },
  dataFrom: [{ extract: { key: "registry" } }],
};

const CLUSTERS: Readonly<Record<Tool, Small>> = {
  reflector: {
    place: "platform/registry",
    source: {
      "reflector.v1.k8s.emberstack.com/reflection-allowed": "true",
      "reflector.v1.k8s.emberstack.com/reflection-auto-enabled": "true",
      "reflector.v1.k8s.emberstack.com/reflection-auto-namespaces": "team-.*",
    },
    copy: () => ({
      annotations: {
        "reflector.v1.k8s.emberstack.com/auto-reflects": "True",
        "reflector.v1.k8s.emberstack.com/reflects": "platform/registry",
      },
    }),
  },
  replicator: {
    place: "platform/registry",
    source: { "replicator.v1.mittwald.de/replicate-to": "team-.*" },
    copy: () => ({
      annotations: {
        "replicator.v1.mittwald.de/replicated-from-version": "1",
        "replicator.v1.mittwald.de/replicated-keys": "token",
      },
    }),
  },
  kubed: {
    place: "platform/registry",
    source: { "kubed.appscode.com/sync": "team" },
    copy: (uid) => ({
      labels: {
        "kubed.appscode.com/origin.name": "registry",
        "kubed.appscode.com/origin.namespace": "platform",
      },
      annotations: {
        "kubed.appscode.com/origin": JSON.stringify({
          namespace: "platform",
          name: "registry",
          uid,
        }),
      },
    }),
  },
  clustersecret: {
    place: "",
    source: undefined,
    copy: () => ({
      labels: { "clustersecret.io": "true" },
      annotations: { "clustersecret.io/created-by": "ClusterSecrets" },
    }),
    customs: [
      {
        kind: "ClusterSecret",
        metadata: { name: "registry", uid: "u", resourceVersion: "1" },
        matchNamespace: ["team-"],
        data: DATA,
      },
    ],
  },
  kyverno: {
    byHand: true,
    place: "platform/registry",
    source: {},
    copy: (uid, namespaceUid) => ({
      labels: {
        "app.kubernetes.io/managed-by": "kyverno",
        "generate.kyverno.io/policy-name": "registry",
        "generate.kyverno.io/policy-namespace": "",
        "generate.kyverno.io/rule-name": "copy",
        "generate.kyverno.io/source-uid": uid,
        "generate.kyverno.io/trigger-uid": namespaceUid,
      },
    }),
    customs: [
      {
        kind: "ClusterPolicy",
        metadata: { name: "registry", uid: "u", resourceVersion: "1" },
        spec: {
          rules: [
            {
              name: "copy",
              match: { any: [{ resources: { kinds: ["Namespace"], names: ["team-*"] } }] },
              generate: {
                apiVersion: "v1",
                kind: "Secret",
                name: "registry",
                namespace: "{{request.object.metadata.name}}",
                synchronize: true,
                clone: { namespace: "platform", name: "registry" },
              },
            },
          ],
        },
      },
    ],
  },
  projection: {
    place: "platform/registry",
    source: { "projection.sh/projectable": "true" },
    copy: () => ({
      labels: { "projection.sh/owned-by-cluster-projection-uid": "u" },
      annotations: {
        "projection.sh/owned-by-cluster-projection": "registry",
        "projection.sh/projectable": "true",
      },
    }),
    customs: [
      {
        kind: "ClusterProjection",
        metadata: {
          name: "registry",
          uid: "u",
          resourceVersion: "1",
          finalizers: ["projection.sh/cluster-finalizer"],
        },
        spec: {
          source: { version: "v1", kind: "Secret", namespace: "platform", name: "registry" },
          destination: {
            namespaceSelector: { matchExpressions: [{ key: "team", operator: "Exists" }] },
          },
        },
      },
    ],
  },
  "external-secrets": {
    place: "platform/registry",
    source: {},
    // As External Secrets leaves them after creationPolicy: Orphan.
    copy: () => ({
      labels: { "reconcile.external-secrets.io/managed": "true" },
      annotations: { "reconcile.external-secrets.io/data-hash": "made-up" },
    }),
    customs: [
      {
        kind: "ClusterSecretStore",
        metadata: { name: "platform", uid: "s", resourceVersion: "1" },
        spec: { provider: { kubernetes: { remoteNamespace: "platform" } } },
      },
      {
        kind: "ClusterExternalSecret",
        metadata: { name: "registry", uid: "c", resourceVersion: "1" },
        spec: {
          externalSecretSpec: REGISTRY,
          namespaceSelectors: [{ matchExpressions: [{ key: "team", operator: "Exists" }] }],
        },
      },
      ...["team-a", "team-b", "team-c"].map((namespace) => ({
        kind: "ExternalSecret",
        metadata: {
          name: "registry",
          namespace,
          uid: namespace,
          resourceVersion: "1",
          ownerReferences: [{ kind: "ClusterExternalSecret", name: "registry", uid: "c" }],
        },
        spec: REGISTRY,
      })),
    ],
  },
};

test("the page on moving offers the tools of the command", () => {
  const page = readFileSync(FOR_ALL, "utf8");
  assert.ok(page.includes(`\`secretcast migrate --from ${OLD_TOOLS.join("|")}\``));
});

for (const tool of OLD_TOOLS) {
  test(`the transcript of a move from ${tool} is what the commands print`, async (t) => {
    const loaded = await load(t, tool, CLUSTERS[tool]);
    const { kubeconfig } = loaded;
    let transcript = "";
    for (const words of stepsOf(CLUSTERS[tool])) {
      const args = ["migrate", "--from", tool, ...words];
      const { stdout, stderr } = await commandLine(args, { env: { KUBECONFIG: kubeconfig } });
      transcript += `$ secretcast ${args.join(" ")}\n`;
      // The plan is printed once more before it is carried out.
      const moves = words[0] === "--write";
      transcript += `${moves ? "" : stdout.replaceAll(/\n\n+/g, "\n\n")}${onAnyMachine(stderr)}`;
      if (moves) assert.ok(stdout.length > 0);
      const commands = stdout.matchAll(/kubectl (?:patch|delete) .*/g);
      for (const [command] of CLUSTERS[tool].byHand === true ? commands : []) {
        transcript += `$ ${command}\n`;
        loaded.customs = applied(loaded.customs, command);
      }
    }
    assertTranscript(SHOWN[tool] ?? OTHERS, `transcript:${tool}`, transcript);
  });
}

/** Rules of a tool that may run are deleted before the clean-up, which prints how. */
function stepsOf({ byHand = false }: Small): readonly (readonly string[])[] {
  const shown = byHand ? [["--cleanup"]] : [];
  return [[], ["--write", "--yes"], ...shown, ["--cleanup", "--write", "--yes"]];
}

type Loaded = { readonly kubeconfig: string; customs: readonly OfAKind[] };

async function load(t: TestContext, tool: Tool, small: Small): Promise<Loaded> {
  const sandbox = await startSandbox({});
  t.after(() => sandbox.stop());
  const proxy = await startFaultProxy(t, { url: sandbox.url });
  const loaded = { kubeconfig: "", customs: small.customs ?? [] };
  proxy.rule = ({ path }) => {
    const { resources } = OLD_TOOL[tool];
    const resource = resources.find((one) => path.endsWith(`/${pluralOf(one)}`));
    if (!resource) return undefined;
    const { group, versions, kind } = resource;
    const items = loaded.customs.filter((one) => one.kind === kind);
    return { kind: "answer", status: 200, body: listBody(`${group}/${versions[0]}`, kind, items) };
  };
  const access = kubeConfigFor(proxy.url);
  const client = createClient(access, { clock: systemClock, userAgent: "secretcast-test" });
  t.after(() => client.close());
  const [home = "", name = "registry"] = small.place.split("/");
  const names = ["secretcast", "team-a", "team-b", "team-c", ...(home === "" ? [] : [home])];
  const uids = new Map<string, string>();
  for (const each of names) {
    const labels = each.startsWith("team-") ? { team: each } : {};
    const made = await post(client, resourcePath(NAMESPACES), { name: each, labels }, {});
    uids.set(each, made.metadata.uid);
  }
  const secrets = (namespace: string): string => resourcePath(SECRETS, namespace);
  const source =
    small.source &&
    (await post(client, secrets(home), { name, annotations: small.source }, { data: DATA }));
  for (const [place, data] of [
    ["team-a", DATA],
    ["team-b", EDITED],
    ["team-c", DATA],
  ] as const) {
    const copy = small.copy(source?.metadata.uid ?? "", uids.get(place) ?? "");
    await post(client, secrets(place), { name: "registry", ...copy }, { data });
  }
  return Object.assign(loaded, { kubeconfig: kubeConfigFile(t, access) });
}

type Made = { readonly metadata: { readonly uid: string } };

function post(client: ApiClient, path: string, metadata: object, rest: object): Promise<Made> {
  const kind = path.endsWith("secrets") ? "Secret" : "Namespace";
  const body = { apiVersion: "v1", kind, metadata, ...rest };
  return client.request<Made>({ method: "POST", path, body, what: "load the example" });
}

test("the 26 deliberate differences name existing flags, annotations and verdicts", () => {
  const page = readFileSync(new URL("../docs/reference.md", import.meta.url), "utf8");
  const rows = tableRows(page, ["the other tool", "secretcast", "instead"]);
  assert.equal(rows.length, 26);
  const flags: readonly string[] = FLAGS.map(({ name }) => name);
  const known = new Set<string>([...ANNOTATION_NAMES, ...VERDICTS]);
  let named = 0;
  for (const [theirs = "", ours = "", instead = ""] of rows) {
    for (const cell of [theirs, ours, instead]) assert.ok(cell.length <= 200, cell);
    for (const [, code = ""] of `${ours} ${instead}`.matchAll(/`([^`]+)`/g)) {
      const flag = /^--([a-z-]+)$/.exec(code)?.[1];
      const word = /^([a-z-]+)(?::.*)?$/.exec(code)?.[1];
      if (flag !== undefined) assert.ok(flags.includes(flag), code);
      else if (word !== undefined && code !== "migrate") assert.ok(known.has(word), code);
      else continue;
      named++;
    }
  }
  assert.ok(named > 30, `${named} words were compared`);
});
