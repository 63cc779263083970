// docs/use.md: each block is applied as it stands on the page, and then the cluster is as the page says, on the
// sandbox and on a real API server.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { kubectlMissing } from "../support/api-server/kubectl.ts";
import { codeBlocks, type CodeBlock } from "../support/documents/markdown.ts";
import { openRecipe, recipeCluster, type RecipeCluster } from "../support/scenes/recipe-stage.ts";
import { eventually } from "../../packages/kube/testing/eventually.ts";

const skip = kubectlMissing() ?? false;
const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const PAGE = readFileSync(`${ROOT}docs/use.md`, "utf8");
// The page names the program without its folder. `plan` says by its code that something is left to do.
const PROGRAM = `secretcast() { node ${ROOT}bin/secretcast.js "$@" || [ $? -eq 2 ]; }\n`;

let cluster: RecipeCluster | undefined;
before(async () => {
  if (process.env["CLUSTER_ACCESS"]) cluster = await recipeCluster([]);
});
after(() => cluster?.stop());

test(
  "a reader of docs/use.md publishes, offers, declines and pulls as typed",
  { skip },
  async (t) => {
    const stage = await openRecipe(t, cluster);
    const { api } = stage.scene;
    const flags = "flags: {source-namespaces: [secretcast, platform]}";
    await stage.apply([{ language: "yaml", text: `# values.yaml\n${flags}\n` }]);
    const type = (title: string): Promise<void> =>
      stage.apply(
        codeBlocks(PAGE, title).map(({ language, text }): CodeBlock =>
          language === "sh" ? { language, text: `${PROGRAM}${text}` } : { language, text },
        ),
      );
    const token = async (namespace: string): Promise<string | undefined> =>
      (await api.secret(namespace, "registry"))?.data?.["token"];

    await stage.shell("kubectl create secret generic registry -n team-a --from-literal=token=own");
    const running = stage.scene.start();
    await type("Publish a Secret");
    await stage.scene.holds("team-b", "registry", { token: "example" });
    assert.equal(await token("team-a"), "own", "an unmanaged Secret is never changed");
    assert.equal(await token("other"), undefined);

    await eventually("the Event names the conflict", async () => {
      const events = await stage.shell("kubectl events -n secretcast --for secret/registry");
      return events.includes("Conflict");
    });
    const asked = codeBlocks(PAGE, "Why is there no copy?").map(({ text }) => text);
    assert.match(await stage.shell(`${PROGRAM}${asked.join("")}`), /conflict.*<- this decided/s);

    await type("Let a source take your Secret over");
    await stage.scene.holds("team-a", "registry", { token: "example" });
    await type("Accept copies");
    await eventually("team-a has no copy", async () => (await token("team-a")) === undefined);
    await stage.scene.holds("team-b", "registry", { token: "example" });

    await api.createSecret("platform", "database", {
      annotations: { "secretcast.io/allow": "team-*" },
      data: { user: "db", password: "made-up" },
    });
    await type("Pull a Secret");
    await stage.scene.holds("team-a", "database", { password: "made-up" });
    await running.stop();
  },
);
