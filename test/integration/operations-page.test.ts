// docs/operations.md: each transcript is typed as it stands on the page and prints what stands there, on the
// sandbox and on a real API server. How long ago an Event was seen differs, and so does the order of Events.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { kubectlMissing } from "../support/api-server/kubectl.ts";
import { openRecipe, recipeCluster, type RecipeCluster } from "../support/scenes/recipe-stage.ts";
import { eventually } from "../support/time/eventually.ts";

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
  const running = stage.start();
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
  await running.stop();
});
