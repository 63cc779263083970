// Keys that are never copied, and what --copyable-keys lets go of them.
import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import {
  isNeverCopied,
  isNeverReleased,
  mayBeCopied,
  NEVER_RELEASED,
  parseCopyableKeys,
} from "../../../src/controller/annotations/never-copied.ts";
import { OLD_TOOL } from "../../../src/migrate/oldtools/old-tools.ts";

const PROTECTED = [
  "secretcast.io/to",
  "secretcast.io/placed-at",
  "kubectl.kubernetes.io/last-applied-configuration",
  "app.kubernetes.io/managed-by",
];

test("the additions to the list: a tool's key without a slash, and two tools' domains", () => {
  for (const key of ["clustersecret.io", "kopf.zalando.org/last-handled", "projection.sh/owned-by"])
    assert.equal(isNeverCopied(key), true, key);
  for (const key of ["clustersecret", "xclustersecret.io", "zalando.org/team", "projection.sh"])
    assert.equal(isNeverCopied(key), false, key);
});

test("marks by which tools delete or fill what they did not create are never copied", () => {
  for (const key of [
    "configsync.gke.io/manager",
    "configmanagement.gke.io/managed",
    "config.k8s.io/owning-inventory",
    "cli-utils.sigs.k8s.io/inventory-id",
    "applyset.kubernetes.io/part-of",
    "addonmanager.kubernetes.io/mode",
    "cluster.x-k8s.io/cluster-name",
    "app.hnc.x-k8s.io/inherited-from",
    "objectset.rio.cattle.io/applied",
    "management.cattle.io/system-namespace",
    "field.cattle.io/projectId",
    "fleet.cattle.io/bundle-id",
    "kapp.k14s.io/original",
    "secretgen.carvel.dev/status",
    "crossplane.io/composite",
    "meta.crossplane.io/owner",
    "olm.owner",
    "operators.coreos.com/operator",
    "olm.operatorframework.io/owner-name",
    "pulumi.com/patchForce",
    "kluctl.io/discriminator",
    "tanka.dev/environment",
    "qbec.io/application",
    "velero.io/restore-name",
    "janitor/ttl",
    "trust-manager.io/hash",
    "operator.1password.io/item-path",
    "secrets.hashicorp.com/vso-ownerRefUID",
    "banzaicloud.com/last-applied",
    "openshift.io/token-secret.value",
    "service.beta.openshift.io/expiry",
    "eck.k8s.elastic.co/owner-name",
    "vcluster.loft.sh/managed-by",
  ])
    assert.equal(isNeverCopied(key), true, key);
  for (const key of ["example.com/owner", "notk8s.io/x", "janitor", "gke.io/x", "loft.sh/x"])
    assert.equal(isNeverCopied(key), false, key);
});

test("no mark of a tool that can be moved from is ever copied", () => {
  for (const { name, prefixes } of Object.values(OLD_TOOL))
    for (const prefix of prefixes)
      assert.ok(isNeverCopied(prefix.endsWith("/") ? `${prefix}x` : prefix), `${name}: ${prefix}`);
});

test("what never comes off the list is on it", () => {
  for (const glob of NEVER_RELEASED) assert.equal(isNeverCopied(glob), true, glob);
  for (const key of PROTECTED) assert.ok(isNeverCopied(key) && isNeverReleased(key), key);
  for (const key of ["secretcast.io", "app.kubernetes.io/instance", "kubernetes.io/x"])
    assert.equal(isNeverReleased(key), false, key);
});

test("no accepted value of --copyable-keys removes a protected key", () => {
  const parts = fc.constantFrom(
    "*",
    "?",
    "secretcast",
    "kubectl",
    "app",
    ".",
    "kubernetes",
    "io",
    "o",
  );
  const half = fc.array(parts, { minLength: 1, maxLength: 6 }).map((all) => all.join(""));
  const entry = fc.oneof(
    half,
    fc.tuple(half, half).map((both) => both.join("/")),
  );
  fc.assert(
    fc.property(fc.array(entry, { minLength: 1, maxLength: 4 }), (entries) => {
      const list = parseCopyableKeys(entries);
      if (!list.ok) return;
      for (const key of PROTECTED) assert.equal(mayBeCopied(key, list.value), false, key);
    }),
    { numRuns: 2000 },
  );
  const all = parseCopyableKeys(["*", "*/*"]);
  assert.ok(all.ok);
  for (const key of PROTECTED) assert.equal(mayBeCopied(key, all.value), false, key);
  assert.equal(mayBeCopied("argocd.argoproj.io/secret-type", all.value), true);
  assert.equal(mayBeCopied("owner", all.value), true);
});

test("only what the globs name leaves the list, except where a ! glob keeps it", () => {
  const list = parseCopyableKeys(["argocd.argoproj.io/*", "!argocd.argoproj.io/tracking-id"]);
  assert.ok(list.ok);
  assert.equal(mayBeCopied("argocd.argoproj.io/secret-type", list.value), true);
  assert.equal(mayBeCopied("argocd.argoproj.io/tracking-id", list.value), false);
  assert.equal(mayBeCopied("helm.sh/chart", list.value), false);
  assert.equal(mayBeCopied("example.com/team", list.value), true);
  assert.equal(mayBeCopied("argocd.argoproj.io/secret-type", undefined), false);
});
