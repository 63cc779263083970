// A real policy refuses the copies of a source in thirty namespaces: what an operator sees of it.
import assert from "node:assert/strict";
import { groupRows } from "../../src/page/groups.ts";
import { openCluster, sharedCluster } from "../support/api-server/cluster.ts";
import { field } from "../../packages/sandbox/testing/http.ts";
import { openFastScene } from "../support/scenes/fast-scene.ts";
import { eventNotes } from "../support/scenes/told.ts";
import { ofSecrets as test } from "../support/scenes/scenario-end.ts";
import { eventually } from "../../packages/kube/testing/eventually.ts";

const POLICIES = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies";
const NAME = "no-copies";
const BINDING = "no-copies-here";
const VALUE = "hunter2-of-thirty";
const REASON = `policy ${NAME} with binding ${BINDING} refused it`;
const SICK = { "example.com/sick": "yes" };

test("thirty namespaces that a policy refuses are one row, one line and one Event", async (t) => {
  const scene = await openFastScene(t);
  const admin = openCluster(sharedCluster());
  const rule = {
    apiGroups: [""],
    apiVersions: ["v1"],
    operations: ["CREATE"],
    resources: ["secrets"],
  };
  const validations = [
    {
      expression: "false",
      messageExpression: "string(object.data['password'])",
      reason: "Forbidden",
    },
  ];
  const policy = { matchConstraints: { resourceRules: [rule] }, validations };
  const matchResources = { namespaceSelector: { matchLabels: SICK } };
  const bound = { policyName: NAME, validationActions: ["Deny"], matchResources };
  const lift = async (): Promise<void> => {
    await admin.send("DELETE", `${POLICIES.replace("policies", "policybindings")}/${BINDING}`);
    await admin.send("DELETE", `${POLICIES}/${NAME}`);
  };
  t.after(async () => {
    await lift();
    await admin.close();
  });
  const made = async (path: string, body: object): Promise<void> =>
    assert.equal((await admin.send("POST", path, { body })).status, 201);
  await made(POLICIES, { metadata: { name: NAME }, spec: policy });
  await made(POLICIES.replace("policies", "policybindings"), {
    metadata: { name: BINDING },
    spec: bound,
  });
  const places: string[] = [];
  for (let n = 0; n < 30; n++) places.push(await scene.namespace(`team-${n}`, { labels: SICK }));
  const probe = { metadata: { name: "probe" }, data: { password: "eA==" } };
  const path = `/api/v1/namespaces/${places[0]}/secrets?dryRun=All`;
  await eventually("the policy is in force", async () => {
    const { body } = await admin.send("POST", path, { body: probe });
    return String(field(body, "message")).includes(`'${NAME}'`);
  });

  await scene.api.createSecret(scene.source, "registry", {
    annotations: { "secretcast.io/to": scene.name("team-*") },
    data: { password: VALUE },
  });
  const running = scene.start();
  const failures = (): number => running.outcomes.filter(({ kind }) => kind === "failed").length;
  await eventually("each has failed four times", () => failures() >= 120, 60_000);
  await eventually("all fail", () => running.settled()?.states.failed === 30);
  const groups = await groupRows(running.settled()?.rows ?? [], { offsetMs: 0, beganAt: 0 });
  assert.deepEqual(
    groups.map(({ verdict, cause, reason, places: { total } }) => [verdict, cause, reason, total]),
    [["backoff", "policy", REASON, 30]],
  );
  const lines = running.log.map((line): unknown => JSON.parse(line));
  const loud = lines.filter((line) => field(line, "level") === "warn");
  // Where the thirty are slow, the line is written after ten seconds, with those that have failed by then.
  assert.deepEqual(
    loud.map((line) => ["msg", "cause", "reason"].map((key) => field(line, key))),
    [["write failed, will try again", "policy", REASON]],
  );
  t.diagnostic(`${failures()} failed writes, ${loud.length} line`);
  // Of another number of places, an Event comes a minute later at the earliest.
  await eventually(
    "an Event says so",
    async () => {
      const notes = await eventNotes(scene, scene.source, "registry", "Failed");
      return notes.some((note) => note.includes(`30 namespaces`) && note.includes(REASON));
    },
    150_000,
  );
  const notes = await eventNotes(scene, scene.source, "registry", "Failed");
  assert.ok(notes.length <= 2, notes.join("\n"));
  assert.doesNotMatch(running.log.join("\n") + notes.join("\n"), /hunter2|aHVudGVyMi/);

  await lift();
  const current = (): boolean => running.settled()?.states.current === 30;
  await eventually("all are served", current);
  await eventually("its end is told", () =>
    running.log.some((line) => line.includes('"resolved: write failed, will try again"')),
  );
});
