// What `secretcast explain` prints for removals works as it is typed: one command keeps the copies, the other one
// removes them. By kubectl and a shell, on the sandbox.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { annotationKey, PREFIX } from "../../src/controller/annotations/vocabulary.ts";
import { kubectlMissing } from "../support/api-server/kubectl.ts";
import { commandLine } from "../support/programs/command-line.ts";
import { installedFront, pageOf } from "../support/scenes/installed-front.ts";
import { openRecipe, type RecipeStage } from "../support/scenes/recipe-stage.ts";
import { ofSecrets as test } from "../support/scenes/scenario-end.ts";
import { eventually } from "../../packages/kube/testing/eventually.ts";

const skip = kubectlMissing() ?? false;
const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const PAGE = readFileSync(`${ROOT}docs/operations.md`, "utf8");
const VALUE = "hunter2-must-not-show";
const TEAMS = ["team-a", "team-b", "other"];
/** Makes the source. `words`: its annotations, without their prefix. */
function registry(words: Readonly<Record<string, string>>, namespace = "secretcast"): string {
  const annotations = Object.fromEntries(
    Object.entries(words).map(([word, value]) => [`${PREFIX}${word}`, value]),
  );
  const made = {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: "registry", namespace, annotations },
    type: "example.com/registry",
    immutable: true,
    data: { password: Buffer.from(VALUE).toString("base64") },
  };
  return `kubectl create -f - <<'END'\n${JSON.stringify(made)}\nEND\n`;
}

const REGISTRY = registry({ to: TEAMS.join() });

type Ways = {
  readonly count: number;
  readonly keep: readonly string[];
  readonly remove: readonly string[];
};

// The removals wait while the commands are read.
const WAITING = { "delete-grace": "10m", "delete-hold": "10m" };

/** Removals of one source by way of `change`, beside a controller in a pod. */
function waysOut(
  name: string,
  steps: {
    readonly prepare: string;
    readonly change: string;
    readonly explain: readonly string[];
    readonly values?: string;
    readonly check: (stage: RecipeStage, ways: Ways) => Promise<void>;
  },
): void {
  test(name, { skip }, async (t) => {
    const stage = await openRecipe(t, undefined);
    const { prepare, change, explain, values } = steps;
    if (values !== undefined)
      await stage.apply([{ language: "yaml", text: `# values.yaml\n${values}` }]);
    await stage.shell(prepare);
    const front = await installedFront(t, stage.scene);
    const page = await pageOf(t, stage.scene, { ...stage.scene.flags(), ...WAITING });
    front.page = page.port;
    await copied(stage, TEAMS);
    await stage.shell(change);
    const args = ["explain", ...explain, "--kubeconfig", front.kubeconfig];
    const { said, way } = await eventually("the controller knows the way out", async () => {
      const answer = await commandLine([...args, "-o", "json"]);
      assert.equal(answer.code, 0, answer.stderr);
      const ways: readonly Ways[] = JSON.parse(answer.stdout).waysOut;
      const [only] = ways;
      if (!only || ways.length > 1 || only.keep.length === 0) return undefined;
      return { said: answer, way: only };
    });
    assert.equal(way.count, TEAMS.length);
    const table = await commandLine(args);
    for (const command of [...way.keep, ...way.remove])
      assert.ok(table.stdout.includes(`  ${command}\n`), `${command}\n${table.stdout}`);
    for (const shown of [said.stdout, table.stdout]) {
      assert.ok(!shown.includes(VALUE));
      assert.ok(!shown.includes(Buffer.from(VALUE).toString("base64")));
    }
    await page.stop();
    await steps.check(stage, way);
  });
}

async function copies(stage: RecipeStage, name = "registry") {
  const all = await stage.scene.api.secrets();
  return all.filter(
    ({ metadata }) =>
      metadata.name === name && metadata.annotations?.[annotationKey("source")] !== undefined,
  );
}

const copied = (stage: RecipeStage, namespaces: readonly string[]): Promise<boolean> =>
  eventually(`copies are in ${namespaces.join()}`, async () => {
    const found = (await copies(stage)).map(({ metadata }) => metadata.namespace ?? "");
    assert.deepEqual(found.toSorted(), [...namespaces].toSorted());
    return true;
  });

/** The commands keep every copy: a controller that deletes without any grace deletes none. */
async function kept(stage: RecipeStage, { keep }: Pick<Ways, "keep">): Promise<void> {
  const uids = async () =>
    (await copies(stage)).map(({ metadata }) => metadata.uid ?? "").toSorted();
  const earlier = await uids();
  for (const command of keep) await stage.shell(command);
  const running = stage.scene.start();
  await eventually("all are current", () => {
    const { current, ...others } = running.settled()?.states ?? { current: 0 };
    return current === TEAMS.length && Object.values(others).every((count) => count === 0);
  });
  assert.deepEqual(await uids(), earlier);
  await running.stop();
}

async function removed(stage: RecipeStage, { remove }: Pick<Ways, "remove">): Promise<void> {
  for (const command of remove) await stage.shell(command);
  assert.deepEqual(await copies(stage), []);
  const running = stage.scene.start();
  await eventually("it has seen all", () => running.settled());
  assert.deepEqual(await copies(stage), [], "nothing is created again");
  await running.stop();
}

const TYPO = "kubectl annotate secret registry -n secretcast --overwrite 'secretcast.io/to=taem-*'";

for (const [what, check] of [
  ["the source names the places again", kept],
  ["the copies are deleted at once, and not created again", removed],
] as const)
  waysOut(`after a typing error in to: ${what}`, {
    prepare: REGISTRY,
    change: TYPO,
    explain: ["registry", "-n", "secretcast"],
    check,
  });

waysOut("a pattern that an exclusion narrowed is restored, and takes new namespaces again", {
  prepare: registry({ to: "team-*,other" }),
  change:
    "kubectl annotate secret registry -n secretcast --overwrite 'secretcast.io/to=team-*,other,!team-a,!team-b,!other'",
  explain: ["registry", "-n", "secretcast"],
  check: async (stage, ways) => {
    await kept(stage, ways);
    const source = await stage.scene.api.secret("secretcast", "registry");
    assert.equal(source?.metadata.annotations?.[annotationKey("to")], "team-*,other");
  },
});

waysOut("a selector that matches nothing any more is restored", {
  prepare: `
kubectl label namespace ${TEAMS.join(" ")} ci=on
${registry({ "to-selector": "ci=on" })}`,
  change:
    "kubectl annotate secret registry -n secretcast --overwrite secretcast.io/to-selector=ci=onn",
  explain: ["registry", "-n", "secretcast"],
  check: kept,
});

waysOut("a source whose to was taken off has it again", {
  prepare: REGISTRY,
  change: "kubectl annotate secret registry -n secretcast secretcast.io/to-",
  explain: ["registry", "-n", "secretcast"],
  check: kept,
});

waysOut("copies that got another name keep theirs", {
  prepare: REGISTRY,
  change: "kubectl annotate secret registry -n secretcast secretcast.io/name=other-name",
  explain: ["registry", "-n", "secretcast"],
  check: kept,
});

waysOut("a lost source is created again from a copy, with its type, and without marks", {
  prepare: REGISTRY,
  change: "kubectl delete secret registry -n secretcast",
  explain: ["registry", "-n", "secretcast"],
  check: async (stage, ways) => {
    await kept(stage, ways);
    const source = await stage.scene.api.secret("secretcast", "registry");
    assert.equal(source?.type, "example.com/registry");
    assert.equal(source.immutable, true);
    assert.deepEqual(source.data, { password: VALUE });
    const own = Object.keys(source.metadata.annotations ?? {}).filter((key) =>
      key.startsWith(PREFIX),
    );
    assert.deepEqual(own, [annotationKey("to")]);
    assert.equal(source.metadata.labels, undefined);
  },
});

waysOut("copies of a lost source are deleted at once, as typed", {
  prepare: REGISTRY,
  change: "kubectl delete secret registry -n secretcast",
  explain: ["registry", "-n", "secretcast"],
  check: removed,
});

waysOut("a source is lost with its namespace, and both are created again", {
  values: "flags: {source-namespaces: platform}",
  prepare: registry({ to: TEAMS.join() }, "platform"),
  change: "kubectl delete namespace platform --wait",
  explain: ["registry", "-n", "platform", "--source-namespaces=platform"],
  check: kept,
});

const LIST = (to: string): string => `
kubectl apply -f - <<'END'
apiVersion: v1
kind: ConfigMap
metadata: {namespace: secretcast, name: secretcast-sources}
data:
  kept: |
    secret: platform/none
    to: team-a
  wildcard: |
    secret: platform/registry
    to: "${to}"
END
`;
const LISTED = registry({}, "platform");

waysOut("an entry that is missing is put back into the source list", {
  prepare: `${LISTED}${LIST(TEAMS.join())}`,
  change: `kubectl patch configmap secretcast-sources -n secretcast --type json -p '[{"op": "remove", "path": "/data/wildcard"}]'`,
  explain: ["registry", "-n", "platform"],
  check: kept,
});

waysOut("an entry that no longer names the places names them again", {
  prepare: `${LISTED}${LIST(TEAMS.join())}`,
  change: LIST("taem-*"),
  explain: ["registry", "-n", "platform"],
  check: kept,
});

waysOut("a lost source returns from a copy, and its entry makes it one", {
  prepare: `${LISTED}${LIST(TEAMS.join())}`,
  change: "kubectl delete secret registry -n platform",
  explain: ["registry", "-n", "platform"],
  check: kept,
});

waysOut("with on-delete: keep, the copies are left to their namespaces at once", {
  prepare: registry({ to: TEAMS.join(), "on-delete": "keep" }),
  change: TYPO,
  explain: ["registry", "-n", "secretcast"],
  check: async (stage, { remove }) => {
    for (const command of remove) await stage.shell(command);
    const all = await stage.scene.api.secrets();
    for (const namespace of TEAMS) {
      const one = all.find((each) => each.metadata.namespace === namespace);
      assert.ok(one);
      assert.equal(one.metadata.labels?.["app.kubernetes.io/managed-by"], undefined);
      await stage.scene.leaveAlone(namespace, "registry");
    }
  },
});

test(
  "the procedure for held removals in docs/operations.md works as typed",
  { skip },
  async (t) => {
    const [, block] = /<!-- held:start -->\n+```sh\n([^`]+)```/.exec(PAGE) ?? [];
    assert.ok(block);
    const stage = await openRecipe(t, undefined);
    await stage.shell(REGISTRY);
    const front = await installedFront(t, stage.scene);
    const page = await pageOf(t, stage.scene, { ...stage.scene.flags(), ...WAITING });
    front.page = page.port;
    await copied(stage, TEAMS);
    await stage.shell("kubectl delete secret registry -n secretcast");
    await eventually("the controller knows the way out", async () => {
      const args = ["explain", "registry", "-n", "secretcast", "--kubeconfig", front.kubeconfig];
      return (await commandLine(args)).stdout.includes("kubectl create -f -");
    });
    // A pipeline ends with the code of its last command; `status` says by its code that something is left to do.
    const program = `export KUBECONFIG=${front.kubeconfig}
secretcast() { node ${ROOT}bin/secretcast.js "$@" || [ $? -eq 2 ]; }`;
    const shown: string[] = [];
    for (const line of block.trim().split("\n"))
      shown.push(await stage.shell(`${program}\n${line}`));
    assert.equal(shown.length, 3);
    const explained = shown.at(-1) ?? "";
    const [, keep] =
      /To keep the 3 copies of secretcast\/registry:\n {2}(.*)\n/.exec(explained) ?? [];
    const [, remove] = /To remove the 3 copies of \S+ now:\n {2}(.*)\n/.exec(explained) ?? [];
    assert.match(remove ?? "", /^for n in other team-a team-b; do kubectl delete secret/);
    await page.stop();
    await kept(stage, { keep: [keep ?? ""] });
  },
);
