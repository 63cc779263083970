// The command that restarts a Pod, by what owns it.
import assert from "node:assert/strict";
import { test } from "node:test";
import { ownerText, restartCommand } from "../../../src/cli/holding/restart-command.ts";

const POD = { namespace: "team-a", name: "web-1" };

for (const [apiVersion, kind, text, command] of [
  ["apps/v1", "Deployment", "Deployment/web", "kubectl rollout restart deployment/web -n team-a"],
  [
    "apps/v1",
    "StatefulSet",
    "StatefulSet/web",
    "kubectl rollout restart statefulset/web -n team-a",
  ],
  ["apps/v1", "DaemonSet", "DaemonSet/web", "kubectl rollout restart daemonset/web -n team-a"],
  ["apps/v1", "ReplicaSet", "ReplicaSet/web", "kubectl delete pod web-1 -n team-a"],
  ["batch/v1", "CronJob", "CronJob/web", "kubectl delete pod web-1 -n team-a"],
  [
    "v1",
    "ReplicationController",
    "ReplicationController/web",
    "kubectl delete pod web-1 -n team-a",
  ],
  // A kind of the same name that kubectl cannot restart.
  [
    "apps.example.com/v1",
    "StatefulSet",
    "StatefulSet.apps.example.com/web",
    "kubectl delete pod web-1 -n team-a",
  ],
] as const)
  test(`${text} is restarted by: ${command}`, () => {
    const owner = { apiVersion, kind, name: "web" };
    assert.equal(ownerText(owner), text);
    assert.equal(restartCommand(POD, owner), command);
  });

test("a bare Pod is replaced by itself, since nothing else creates it again", () => {
  assert.equal(
    restartCommand(POD, undefined),
    "kubectl get pod web-1 -n team-a -o yaml | kubectl replace --force -f -",
  );
  assert.equal(ownerText(undefined), "none");
});

// The API server takes any text as the name in an ownerReference, and an administrator pastes the command.
for (const name of ["web; rm -rf ~ #", "$(id)", "web -n kube-system", "web\nid", "--all", ""])
  test(`an owner called ${JSON.stringify(name)} writes no part of the command`, () => {
    const owner = { apiVersion: "apps/v1", kind: "Deployment", name };
    assert.equal(restartCommand(POD, owner), "kubectl delete pod web-1 -n team-a");
  });
