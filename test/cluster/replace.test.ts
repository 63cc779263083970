// Replaces on a real API server: a copy that cannot be updated is deleted for its successor only when
// the API server has said that it would take that, by the words that it really uses.
import assert from "node:assert/strict";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import type { TestContext } from "node:test";
import type { Running, Scene } from "../support/scenes/scene.ts";
import { ONE as CERTIFICATE } from "../../packages/kube/testing/certificates.ts";
import { openCluster, sharedCluster } from "../support/api-server/cluster.ts";
import { eventually } from "../../packages/kube/testing/eventually.ts";
import { field } from "../../packages/sandbox/testing/http.ts";
import { good } from "../support/api-server/pressure.ts";
import { ofSecrets as test } from "../support/scenes/scenario-end.ts";
import { openScene } from "../support/scenes/scene.ts";

const ADMISSION = "/apis/admissionregistration.k8s.io/v1";
const OLD = { key: "old" };
const NEW = { key: "new" };

type Stage = {
  readonly scene: Scene;
  readonly teams: readonly string[];
  readonly running: Running;
};

/** An immutable source with its copies, and a controller that has seen them. */
async function open(t: TestContext): Promise<Stage> {
  const scene = await openScene(t);
  const teams = [
    await scene.namespace("a"),
    await scene.namespace("b"),
    await scene.namespace("c"),
  ];
  await source(scene, OLD);
  // So that the grace is long enough for the source to be made again.
  const running = scene.start({ "delete-grace": "10s" });
  for (const team of teams) await scene.holds(team, "cred", OLD);
  return { scene, teams, running };
}

async function source(scene: Scene, data: Readonly<Record<string, string>>, type = "Opaque") {
  const annotations = { "secretcast.io/to": teamsOf(scene) };
  await scene.api.createSecret(scene.source, "cred", { annotations, data, type, immutable: true });
}

const teamsOf = (scene: Scene): string => `${scene.name("")}?`;

async function rotate(scene: Scene, type?: string): Promise<void> {
  await scene.api.deleteSecret(scene.source, "cred");
  await source(scene, NEW, type);
}

const uids = ({ scene, teams }: Stage) =>
  Promise.all(
    teams.map(async (team) => (await scene.api.secret(team, "cred"))?.metadata.uid ?? "absent"),
  );

/** Every copy is in back-off, and none was touched. */
async function assertAllStay(stage: Stage, before: readonly string[]): Promise<void> {
  const failures = () => stage.running.outcomes.filter(({ kind }) => kind === "failed");
  const tried = () => new Set(failures().map(({ action }) => action.place.namespace)).size === 3;
  await eventually("every replace was tried", tried);
  await eventually("they are tried again", () => failures().length >= 6);
  assert.deepEqual(await uids(stage), before);
  for (const team of stage.teams) await stage.scene.holds(team, "cred", OLD);
}

async function assertAllReplaced({ scene, teams }: Stage): Promise<void> {
  for (const team of teams) await scene.holds(team, "cred", NEW);
}

async function make(
  t: TestContext,
  collection: string,
  body: { metadata: { name: string }; readonly [field: string]: unknown },
) {
  const admin = openCluster(sharedCluster());
  await good(admin.send("POST", collection, { body }));
  let there = true;
  const remove = async (): Promise<void> => {
    if (there) await good(admin.send("DELETE", `${collection}/${body.metadata.name}`));
    if (there) await admin.close();
    there = false;
  };
  t.after(remove);
  return remove;
}

const ours = (scene: Scene) => ({
  matchExpressions: [
    {
      key: "kubernetes.io/metadata.name",
      operator: "In",
      values: ["a", "b", "c"].map((base) => scene.name(base)),
    },
  ],
});
const CREATES = {
  apiGroups: [""],
  apiVersions: ["v1"],
  operations: ["CREATE"],
  resources: ["secrets"],
};

async function webhook(t: TestContext, scene: Scene, port: number) {
  const hook = {
    name: "replace.example.com",
    clientConfig: {
      url: `https://127.0.0.1:${port}/`,
      caBundle: Buffer.from(CERTIFICATE.cert).toString("base64"),
    },
    rules: [CREATES],
    namespaceSelector: ours(scene),
    failurePolicy: "Fail",
    sideEffects: "None",
    timeoutSeconds: 2,
    admissionReviewVersions: ["v1"],
  };
  const collection = `${ADMISSION}/validatingwebhookconfigurations`;
  const remove = await make(t, collection, {
    metadata: { name: scene.name("hook") },
    webhooks: [hook],
  });
  await refused(scene, true);
  return async () => {
    await remove();
    await refused(scene, false);
  };
}

/** Waits until a create there is refused, or is not. */
async function refused(scene: Scene, wanted: boolean, type = "Opaque"): Promise<void> {
  const admin = openCluster(sharedCluster());
  const body = { metadata: { name: "probe" }, type };
  const path = `/api/v1/namespaces/${scene.name("a")}/secrets?dryRun=All`;
  try {
    await eventually("admission is as it is to be", async () => {
      const { status } = await admin.send("POST", path, { body });
      return status >= 400 === wanted;
    });
  } finally {
    await admin.close();
  }
}

/** Denies every create with the API server's own words for a name that is taken. */
async function denier(t: TestContext): Promise<number> {
  const server = createServer(
    { cert: CERTIFICATE.cert, key: CERTIFICATE.key },
    (request, response) => {
      let text = "";
      request.on("data", (chunk) => (text += String(chunk)));
      request.on("end", () => {
        const review: unknown = JSON.parse(text);
        const uid = field(review, "request", "uid");
        const message = `secrets "${String(field(review, "request", "name"))}" already exists`;
        const status = { code: 409, reason: "AlreadyExists", message };
        const answer = { uid, allowed: false, status };
        response.setHeader("content-type", "application/json");
        response.end(
          JSON.stringify({
            apiVersion: "admission.k8s.io/v1",
            kind: "AdmissionReview",
            response: answer,
          }),
        );
      });
    },
  );
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

test("while a webhook is down that fails closed, a rotated immutable source loses no copy", async (t) => {
  const stage = await open(t);
  const before = await uids(stage);
  // Nobody listens on port 1.
  const up = await webhook(t, stage.scene, 1);
  await rotate(stage.scene);
  await assertAllStay(stage, before);
  await up();
  await assertAllReplaced(stage);
});

test("a webhook that denies by the API server's own 409 keeps every copy", async (t) => {
  const stage = await open(t);
  const before = await uids(stage);
  const lift = await webhook(t, stage.scene, await denier(t));
  await rotate(stage.scene);
  await assertAllStay(stage, before);
  await lift();
  await assertAllReplaced(stage);
});

test("a policy that refuses the new type keeps every copy", async (t) => {
  const stage = await open(t);
  const { scene } = stage;
  const before = await uids(stage);
  const name = scene.name("policy");
  const remove = await make(t, `${ADMISSION}/validatingadmissionpolicies`, {
    metadata: { name },
    spec: {
      matchConstraints: { resourceRules: [CREATES] },
      validations: [{ expression: "object.type != 'example.com/new'", message: "not here" }],
    },
  });
  const unbind = await make(t, `${ADMISSION}/validatingadmissionpolicybindings`, {
    metadata: { name },
    spec: {
      policyName: name,
      validationActions: ["Deny"],
      matchResources: { namespaceSelector: ours(scene) },
    },
  });
  await refused(scene, true, "example.com/new");
  await rotate(scene, "example.com/new");
  await assertAllStay(stage, before);
  await unbind();
  await remove();
  await refused(scene, false, "example.com/new");
  await assertAllReplaced(stage);
});

test("a quota that is full only because of the old copy is in nobody's way", async (t) => {
  const stage = await open(t);
  const { scene, teams } = stage;
  const admin = openCluster(sharedCluster());
  t.after(() => admin.close());
  for (const team of teams) {
    const path = `/api/v1/namespaces/${team}/resourcequotas`;
    const hard = { secrets: "1", "count/secrets": "1" };
    await good(admin.send("POST", path, { body: { metadata: { name: "full" }, spec: { hard } } }));
    // The controller manager counts where there is one; else this is the count.
    const counted = () =>
      admin.send("PATCH", `${path}/full/status`, {
        body: { status: { hard, used: hard } },
        contentType: "application/merge-patch+json",
      });
    await good(counted());
  }
  await refused(scene, true);
  // Deletes are counted by the controller manager: without one the quota stays full, as it says.
  const freed = new Set<string>();
  const counting = (async () => {
    while (freed.size < teams.length && !t.signal.aborted) {
      for (const team of teams) {
        if (freed.has(team) || (await scene.api.secret(team, "cred"))?.data?.["key"] === "old")
          continue;
        freed.add(team);
        await admin.send("PATCH", `/api/v1/namespaces/${team}/resourcequotas/full/status`, {
          body: { status: { used: { secrets: "0", "count/secrets": "0" } } },
          contentType: "application/merge-patch+json",
        });
      }
    }
  })();
  await rotate(scene);
  await assertAllReplaced(stage);
  await counting;
});
