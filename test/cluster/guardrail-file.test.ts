// The guardrail as a file, by the commands and the configuration of docs/reference.md, on an API server that is
// started with it: it holds the controller's account to copies before anybody has applied anything, and no request
// takes it off. And what else Kubernetes 1.37 brings for users of this page.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { openCluster, ownCluster } from "../support/api-server/cluster.ts";
import type { ControlPlane } from "../support/api-server/control-plane.ts";
import { field, type Answer, type Http } from "../../packages/sandbox/testing/http.ts";
import { since } from "../support/api-server/kubernetes-version.ts";
import { eventually } from "../../packages/kube/testing/eventually.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const [, PAGE = ""] = readFileSync(`${ROOT}docs/reference.md`, "utf8").split(
  "#### The guardrail as a file\n",
);
const blockOf = (language: string): string =>
  new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\`$`, "ms").exec(PAGE)?.[1] ?? assert.fail(language);

const options = since(37, "admission policies from files");
const NAMED = "secretcast-guardrail-create.static.k8s.io";
const POLICIES = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies";
const SECRETS = "/api/v1/namespaces/default/secrets";
const CONTROLLER = "system:serviceaccount:secretcast:secretcast";

let folder: string;
let cluster: ControlPlane;
let http: Http;
before(async () => {
  if (options.skip !== false) return;
  folder = mkdtempSync(join(tmpdir(), "secretcast-admission-"));
  cpSync(`${ROOT}manifests/components`, join(folder, "manifests/components"), { recursive: true });
  const script = blockOf("sh") + blockOf("sh").replaceAll("guardrail", "tenant-guard");
  const made = spawnSync("sh", ["-ec", script], { cwd: folder, encoding: "utf8" });
  assert.equal(made.status, 0, made.stderr);
  const admissionConfig = join(folder, "admission.yaml");
  const config = blockOf("yaml").replace("/etc/kubernetes/admission", join(folder, "admission"));
  writeFileSync(admissionConfig, config);
  cluster = await ownCluster({ admissionConfig });
  http = openCluster(cluster);
});
after(async () => {
  if (options.skip !== false) return;
  await http.close();
  await cluster.stop();
  rmSync(folder, { recursive: true });
});

/** A create by the account, with every right that RBAC can give. */
function create(name: string, user: string, metadata: object = {}): Promise<Answer> {
  const headers = { "impersonate-user": user, "impersonate-group": "system:masters" };
  const path = `${SECRETS}?fieldManager=secretcast`;
  return http.send("POST", path, { body: { metadata: { name, ...metadata } }, headers });
}

const refusal =
  /ValidatingAdmissionPolicy 'secretcast-guardrail-create\.static\.k8s\.io' .* secretcast may create an object only as a copy/;

async function isHeld(name: string): Promise<void> {
  const { status, body } = await create(name, CONTROLLER);
  assert.equal(status, 403);
  assert.match(String(field(body, "message")), refusal);
}

test(
  "the guardrail from a file applies before anything is installed, and only to the controller",
  options,
  async () => {
    await isHeld("plain");
    const copy = {
      labels: { "app.kubernetes.io/managed-by": "secretcast" },
      annotations: {
        "secretcast.io/source": "secretcast/registry",
        "secretcast.io/source-uid": "11111111-2222-3333-4444-555555555555",
        "secretcast.io/placed-at": "default/copy",
      },
    };
    assert.equal((await create("copy", CONTROLLER, copy)).status, 201);
    assert.equal((await create("of-a-tenant", "tenant")).status, 201);
  },
);

test("no request takes the guardrail from a file off", options, async () => {
  for (const path of [POLICIES, POLICIES.replace(/policies$/, "policybindings")]) {
    assert.equal((await http.send("GET", `${path}/${NAMED}`)).status, 404);
    assert.equal((await http.send("DELETE", `${path}/${NAMED}`)).status, 404);
    assert.equal((await http.send("DELETE", path)).status, 200, "all of them");
  }
  await isHeld("after-deletes");
  // One of its name that admits everything cannot be put beside it.
  const spec = {
    matchConstraints: { resourceRules: [] },
    validations: [{ expression: "true" }],
  };
  const body = { metadata: { name: NAMED }, spec };
  assert.equal((await http.send("POST", POLICIES, { body })).status, 422);
  await isHeld("after-a-create");
});

test("the tenant guard works from files made in the same way", options, async () => {
  const rbac = "/apis/rbac.authorization.k8s.io/v1";
  const binding = {
    metadata: { name: "tenant" },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "edit" },
    subjects: [{ kind: "User", name: "tenant" }],
  };
  const bound = await http.send("POST", `${rbac}/namespaces/default/rolebindings`, {
    body: binding,
  });
  assert.equal(bound.status, 201);
  const headers = { "impersonate-user": "tenant" };
  const remove = () => http.send("DELETE", `${SECRETS}/copy`, { headers });
  // RBAC learns of the binding a moment later.
  await eventually("the tenant is stopped by the guard", async () =>
    String(field((await remove()).body, "message")).includes(
      "'secretcast-tenant-guard.static.k8s.io'",
    ),
  );
});

test("ClusterTrustBundle is stable and on by default", options, async () => {
  const path = "/apis/certificates.k8s.io/v1/clustertrustbundles";
  assert.equal((await http.send("GET", path)).status, 200);
});
