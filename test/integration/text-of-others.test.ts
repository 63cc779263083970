// What others write where a cluster lets them write any text: none of it controls what shows it. Every command in every
// form of its output, the controller's log, its Events and its pages are searched, on the sandbox and on a real API
// server. What only a file can hold is in the second test, and what a shell would run of it.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { ofSecrets as test } from "../support/scenes/scenario-end.ts";
import { openScene, type Scene } from "../support/scenes/scene.ts";
import { commandLine, type Said } from "../support/programs/command-line.ts";
import { eavesdrop } from "../support/programs/eavesdrop.ts";
import { eventually } from "../../packages/kube/testing/eventually.ts";
import { folderOf } from "../../packages/kube/testing/folder.ts";
import { ApiError } from "../../packages/kube/rest/api-error.ts";
import { EVENTS, resourcePath } from "../../packages/kube/rest/resource.ts";
import type { Texts } from "../campaign/model/raw.ts";

/** It clears a terminal and sets its title, turns the direction, and begins lines of its own. */
const TEXT = "a\u001b[2J\u001b]0;title\u0007\u202eb\u2028c\r\nfaked: line\u0085d";
/** Everything of Unicode that controls, but the end of a line. */
const CONTROLS = /[^\n\P{Cc}]|[\p{Cf}\p{Zl}\p{Zp}]/u;

const said = (words: Texts): Texts =>
  Object.fromEntries(Object.entries(words).map(([word, text]) => [`secretcast.io/${word}`, text]));

const place = async (
  { api }: Scene,
  path: string,
  kind: string,
  namespace: string,
  rest: { readonly metadata: object; readonly [field: string]: unknown },
): Promise<void> => {
  const metadata = { namespace, ...rest.metadata };
  const body = { kind, ...rest, metadata };
  // The sandbox has no Pods and no Deployments.
  await api.client
    .request({ method: "POST", path, body, what: `create a ${kind}` })
    .catch((error: unknown) => {
      if (!(error instanceof ApiError) || error.status !== 404) throw error;
    });
};

/** One object of each kind that says it. */
async function plant(scene: Scene): Promise<readonly [string, string]> {
  const { api, source } = scene;
  const team = await scene.namespace("team-a");
  const odd = await scene.namespace("team-odd", { annotations: said({ accept: TEXT }) });
  const to = scene.name("team-*");
  const secret = (namespace: string, name: string, words: Texts, more: object = {}) =>
    api.createSecret(namespace, name, {
      annotations: said(words),
      data: { key: "value" },
      ...more,
    });
  await secret(source, "registry", { to, allow: to }, { type: TEXT });
  await secret(source, "refused", { to, name: TEXT });
  await secret(source, "unknown", { to, "unheard-of": TEXT });
  await secret(source, "ignored", { keys: TEXT });
  await secret(team, "pulled", { from: `${source}/registry`, keys: TEXT }, { data: {} });
  await secret(team, "elsewhere", { from: TEXT });
  await secret(team, "opened", { adopt: TEXT });
  const marks = { source: `${source}/registry`, "source-uid": "u", "source-version": TEXT };
  const forged = { ...marks, entry: TEXT, list: TEXT, "placed-at": `${team}/forged` };
  await secret(team, "forged", forged, {
    labels: { "app.kubernetes.io/managed-by": "secretcast" },
  });
  await secret(odd, "registry", { to: TEXT });
  const volumes = [{ name: "v", secret: { secretName: "registry" } }];
  const containers = [{ name: "c", image: "i", args: [TEXT], env: [{ name: "N", value: TEXT }] }];
  await place(scene, `/api/v1/namespaces/${team}/pods`, "Pod", team, {
    apiVersion: "v1",
    metadata: { name: "pod", annotations: { note: TEXT } },
    spec: { containers, volumes },
  });
  const labels = { "app.kubernetes.io/name": "secretcast" };
  const template = {
    metadata: { labels },
    spec: { containers: [{ ...containers[0], args: [`--only-names=${TEXT}`] }] },
  };
  await place(scene, `/apis/apps/v1/namespaces/${source}/deployments`, "Deployment", source, {
    apiVersion: "apps/v1",
    metadata: { name: "secretcast", labels, annotations: { note: TEXT } },
    spec: { selector: { matchLabels: labels }, template },
  });
  const microTime = new Date().toISOString().replace("Z", "000Z");
  await place(scene, `/apis/coordination.k8s.io/v1/namespaces/${source}/leases`, "Lease", source, {
    apiVersion: "coordination.k8s.io/v1",
    metadata: { name: "secretcast", annotations: { "secretcast.io/leader": TEXT } },
    spec: { holderIdentity: TEXT, renewTime: microTime, leaseDurationSeconds: 15 },
  });
  const regarding = { apiVersion: "v1", kind: "Secret", namespace: source, name: "registry" };
  await place(scene, resourcePath(EVENTS, source), "Event", source, {
    apiVersion: "events.k8s.io/v1",
    metadata: { name: "registry.1" },
    regarding,
    note: TEXT,
    reason: "Odd",
    type: "Normal",
    action: "a",
    eventTime: microTime,
    reportingController: "secretcast",
    reportingInstance: TEXT,
  });
  return [team, odd];
}

const FORMS = {
  status: ["wide", "json", "yaml", "name"],
  plan: ["json", "yaml", "name"],
  check: ["json", "yaml"],
  inventory: ["wide", "csv", "json", "yaml"],
} as const;

function clean(what: string, text: string): void {
  const at = text.search(CONTROLS);
  const near = JSON.stringify(text.slice(Math.max(0, at - 200), at + 40));
  assert.equal(at, -1, `${what}: ${near}`);
  assert.doesNotMatch(text, /^faked/m, what);
}

test("nothing that others write controls a terminal, a log, an Event or a page", async (t) => {
  const scene = await openScene(t);
  const [team, odd] = await plant(scene);
  const { source, kubeconfig } = scene;
  for (const format of ["pretty", "json"]) {
    const flags = { ...scene.flags(), "log-format": format, "only-names": "" };
    const words = Object.entries(flags).flatMap(([flag, value]) =>
      value === "" ? [] : [`--${flag}=${value}`],
    );
    const program = eavesdrop(t, ["run", ...words, "--leader-elect=false"]);
    await eventually("it says what is refused", () => program.text().includes("refused"));
    if (format === "json") clean("pages", await program.pages());
    await program.stop();
    clean(`log as ${format}`, program.text());
  }
  const { items } = await scene.api.client.request<{
    readonly items: readonly {
      readonly note?: string;
      readonly metadata: { readonly name: string };
    }[];
  }>({ method: "GET", path: resourcePath(EVENTS), what: "list events" });
  const own = items.filter(({ metadata }) => metadata.name !== "registry.1");
  assert.ok(own.length > 2);
  for (const { note = "" } of own) clean("Event", note);
  const run = (...words: readonly string[]): Promise<Said> =>
    commandLine([...words, "--kubeconfig", kubeconfig, "--request-timeout=10s"]);
  const from = ["-n", source, "--source-namespaces", source];
  const outputs: [string, Said][] = [];
  const add = async (...words: readonly string[]): Promise<void> => {
    outputs.push([words.join(" "), await run(...words)]);
  };
  for (const [command, forms] of Object.entries(FORMS)) {
    await add(command, ...from);
    for (const form of forms) await add(command, ...from, "-o", form);
  }
  for (const [namespace, name] of [
    ...["registry", "refused", "unknown", "ignored"].map((name) => [source, name]),
    ...["pulled", "elsewhere", "opened", "forged", "registry"].map((name) => [team, name]),
    [odd, "registry"],
  ] as const)
    for (const form of ["", "-o=json", "-o=yaml"])
      await add(
        "explain",
        name ?? "",
        "-n",
        namespace ?? "",
        "--source-namespaces",
        source,
        ...(form ? [form] : []),
      );
  for (const form of ["", "-o=json", "-o=yaml"])
    await add("rotation", "registry", ...from, ...(form ? [form] : []));
  await add("migrate", "--from", "reflector");
  for (const [words, { stdout, stderr }] of outputs) {
    assert.ok(stdout + stderr !== "", words);
    // RFC 4180 ends lines so.
    clean(`${words}, stdout`, words.endsWith("csv") ? stdout.replaceAll("\r\n", "\n") : stdout);
    clean(`${words}, stderr`, stderr);
  }
});

/** A Kyverno policy with a rule of this name. */
const policy = (name: string, at: number): object => ({
  apiVersion: "kyverno.io/v1",
  kind: "ClusterPolicy",
  metadata: { name: `share-${at}` },
  spec: {
    rules: [
      {
        name,
        match: { any: [{ resources: { kinds: ["Namespace"], names: ["team-*"] } }] },
        generate: {
          apiVersion: "v1",
          kind: "Secret",
          name: "one",
          namespace: "{{request.object.metadata.name}}",
          synchronize: true,
          clone: { namespace: "platform", name: "one" },
        },
      },
    ],
  },
});

const SHELL = "a'; touch touched; echo 'b $(touch touched) `touch touched`";

/** Runs each line from the word `kubectl` on, where these are functions that do nothing. */
function runCommands(t: TestContext, text: string): number {
  const folder = folderOf(t, { "nothing-else": "" });
  const lines = text.split("\n").flatMap((line) => /kubectl .*/.exec(line)?.[0] ?? []);
  for (const line of lines)
    try {
      execFileSync("sh", ["-c", `kubectl() { :; }; ${line}`], { cwd: folder, stdio: "ignore" });
    } catch {
      // A sentence that goes on after the command is no command.
    }
  assert.deepEqual(readdirSync(folder), ["nothing-else"], text);
  return lines.length;
}

test("nothing that a file holds controls a terminal, and a shell runs nothing of it", async (t) => {
  const source = (name: string, words: Texts, more: object = {}): object => ({
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name, namespace: "platform", annotations: said(words), ...more },
    type: TEXT,
    stringData: { [SHELL]: "value", [TEXT]: "value" },
  });
  const space = (name: string, words: Texts = {}): object => ({
    apiVersion: "v1",
    kind: "Namespace",
    metadata: { name, annotations: said(words) },
  });
  const list = (items: readonly object[]): string =>
    JSON.stringify({ apiVersion: "v1", kind: "List", items });
  const around = ["team-a", TEXT, SHELL, "platform"].map((name) => space(name));
  const folder = folderOf(t, {
    "old/one.yaml": list([...around, source("one", { to: "none" })]),
    "new/one.yaml": list([
      ...around,
      space("odd", { accept: TEXT }),
      ...[TEXT, SHELL, "one"].map((name) => source(name, { to: "*" })),
      source("refused", { to: "*", name: TEXT }),
      source("unknown", { to: "*", [TEXT]: SHELL }),
      source("ignored", { keys: SHELL }),
    ]),
    [`new/${TEXT.replaceAll("/", "")}.yaml`]: list([source("two", { to: SHELL })]),
    "new/broken.yaml": `a: ${TEXT}: [`,
    "mirrors/m.yaml": list([
      ...around,
      source("one", {}),
      ...[SHELL, TEXT].map(policy),
      ...[TEXT, SHELL].map((name) =>
        source(
          name,
          {},
          {
            annotations: {
              "reflector.v1.k8s.emberstack.com/reflection-allowed": "true",
              "reflector.v1.k8s.emberstack.com/reflection-allowed-namespaces": TEXT,
              "reflector.v1.k8s.emberstack.com/reflection-auto-enabled": SHELL,
            },
          },
        ),
      ),
    ]),
  });
  const from = ["--source-namespaces", "platform"];
  const files = ["plan", "-f", join(folder, "new"), "-R", ...from];
  let commands = 0;
  for (const words of [
    ...["", "-o=json", "-o=yaml", "-o=name", "-o=wide"].map((form) => [
      ...files,
      ...(form ? [form] : []),
    ]),
    ...["", "-o=json", "-o=markdown"].map((form) => [
      ...files,
      "--base",
      join(folder, "old"),
      ...(form ? [form] : []),
    ]),
    ...["reflector", "replicator", "kyverno"].map((tool) => [
      "migrate",
      "--from",
      tool,
      "-f",
      join(folder, "mirrors"),
      "-R",
    ]),
  ]) {
    const { stdout, stderr } = await commandLine(words);
    assert.ok(stdout + stderr !== "", words.join(" "));
    for (const [name, text] of Object.entries({ stdout, stderr })) {
      clean(`${words.slice(0, 1).join(" ")} ${words.slice(4).join(" ")} ${name}`, text);
      commands += runCommands(t, text);
    }
  }
  assert.ok(commands > 0, "there was a command to run");
});
