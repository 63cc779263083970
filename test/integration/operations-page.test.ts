// docs/operations.md: each transcript is typed as it stands on the page and prints what stands there, on the
// sandbox and on a real API server. How long ago an Event was seen differs, and so does the order of Events.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { kubectlMissing } from "../support/api-server/kubectl.ts";
import { openRecipe, recipeCluster, type RecipeCluster } from "../support/scenes/recipe-stage.ts";
import { eventually } from "../../packages/kube/testing/eventually.ts";

const skip = kubectlMissing() ?? false;
const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const PAGE = readFileSync(`${ROOT}docs/operations.md`, "utf8");
const EXAMPLE = `
kubectl get namespace team-c || kubectl create namespace team-c
kubectl create secret generic registry -n team-b --from-literal password=own
for name in registry ca db; do kubectl create secret generic $name -n secretcast --from-literal password=made-up; done
kubectl annotate secrets registry ca db -n secretcast 'secretcast.io/to=team-*'
kubectl annotate secret ca -n secretcast secretcast.io/on-delte=keep
kubectl create configmap secretcast-sources -n secretcast --from-literal 'wildcard={secret: platform/wildcard-tls, to: team-*}'
`;

let cluster: RecipeCluster | undefined;
before(async () => {
  if (process.env["CLUSTER_ACCESS"]) cluster = await recipeCluster([]);
});
after(() => cluster?.stop());

/** The lines without what differs from one run to another. */
function steady(shown: string): readonly string[] {
  const lines = shown.trim().split("\n");
  return lines
    .map((line) => line.replace(/^\S+ +(?=Normal |Warning )/, "").replaceAll(/ +/g, " "))
    .toSorted();
}

test("the commands of docs/operations.md print what the page says", { skip }, async (t) => {
  const stage = await openRecipe(t, cluster);
  await stage.apply([{ language: "yaml", text: "# values.yaml\nflags: {delete-hold: 30m}\n" }]);
  await stage.shell(EXAMPLE);
  stage.scene.start();
  await eventually("db is copied", () =>
    stage
      .shell("for name in team-a team-b team-c; do kubectl get secret db -n $name; done")
      .catch(() => false),
  );
  await stage.shell(
    "kubectl annotate secret db -n secretcast --overwrite 'secretcast.io/to=taem-*'",
  );
  const program = `secretcast() { node ${ROOT}bin/secretcast.js "$@"; }`;
  const blocks = [...PAGE.matchAll(/^```console\n(.*?)^```$/gms)];
  assert.ok(blocks.length > 2);
  for (const [, block = ""] of blocks)
    for (const command of block.split(/^\$ /m).slice(1)) {
      const [line = "", ...printed] = command.split("\n");
      await eventually(`"${line}" prints what the page says`, async () => {
        const shown = await stage.shell(`exec 2>&1; ${program}\n${line} || true`);
        assert.deepEqual(steady(shown), steady(printed.join("\n")));
        return true;
      });
    }
});

/** The shell blocks under the heading, with the names of the source `secretcast/registry` and of its copy in team-a. */
function procedure(title: string): readonly string[] {
  const section = PAGE.split(/^#{2,3} /m).find((part) => part.startsWith(`${title}\n`));
  assert.ok(section, title);
  return Array.from(section.matchAll(/^```sh\n(.*?)^```$/gms), ([, text = ""]) =>
    text
      .replaceAll("SOURCE-NAMESPACE", "secretcast")
      .replaceAll("TARGET-NAMESPACE", "team-a")
      .replace(/secret NAME -n NAMESPACE --show/, "secret registry -n team-a --show")
      .replaceAll(/\bNAMESPACE\b/g, "secretcast")
      .replaceAll(/\bNAME\b/g, "registry"),
  );
}

test("procedures of docs/operations.md work as typed", { skip }, async (t) => {
  const stage = await openRecipe(t, cluster);
  await stage.shell(`
kubectl create secret generic registry -n secretcast --from-literal token=made-up
kubectl annotate secret registry -n secretcast 'secretcast.io/to=team-*'
kubectl get namespace cert-manager || kubectl create namespace cert-manager
kubectl create secret generic wildcard-tls -n cert-manager --from-literal token=wildcard`);
  stage.scene.start();
  await stage.scene.holds("team-a", "registry", { token: "made-up" });

  const [list = ""] = procedure("How do I create the list?");
  await stage.shell(list);
  await stage.scene.holds("team-a", "wildcard-tls", { token: "wildcard" });

  const [log = "", time = "", digests = ""] = procedure("Which version does a copy hold?");
  assert.match(log, /^kubectl logs /);
  assert.match(await stage.shell(time), /^\d{4}-\d\d-\d\dT[\d:]+Z\n$/);
  if ((await stage.shell("command -v jq || true")) !== "") {
    const lines = (await stage.shell(digests)).trim().split("\n");
    assert.equal(lines.length, 2);
    assert.equal(new Set(lines).size, 1, "the copy has the content of its source");
  }

  const [, again = ""] = procedure("SecretcastNotConverged");
  await stage.shell(again);
  const annotated = await stage.scene.api.secret("secretcast", "registry");
  assert.ok(annotated?.metadata.annotations?.["retried-at"]);
});
