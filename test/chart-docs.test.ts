// What the chart says of itself: its README is that of its values, each of which is explained, and what
// Artifact Hub shows is true of this version. What only the owner knows is in owner.yaml.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { loadYaml } from "@kubernetes/client-node";
import { versionFinding } from "../src/cli/check/check-server.ts";
import { chartDocs, valuesSchema } from "../tools/chart-docs.ts";
import { rightsFiles } from "../tools/rights-files.ts";

const ROOT = new URL("../", import.meta.url);
const text = (file: string): string => readFileSync(new URL(file, ROOT), "utf8");
const chart: Readonly<Record<string, unknown>> & {
  readonly version: string;
  readonly kubeVersion: string;
  readonly icon: string;
  readonly annotations: Readonly<Record<string, string>>;
} = loadYaml(text("manifests/chart/Chart.yaml"));
const annotation = (name: string): string =>
  chart.annotations[`artifacthub.io/${name}`] ?? assert.fail(`no ${name}`);

test("the chart's README and icon are what npm run chart:docs makes of its values", () => {
  for (const [file, wanted] of chartDocs())
    assert.equal(text(`manifests/chart/${file}`), wanted, `${file}: run npm run chart:docs`);
});

test("the rules of the chart and of namespace-rights are those of the table of rights", () => {
  const files = rightsFiles();
  assert.equal(files.size, 3);
  for (const [file, wanted] of files)
    assert.equal(text(`manifests/${file}`), wanted, `${file}: run npm run chart:docs`);
});

/** What is in them has the API server's own words. */
const OF_THE_API = ["updateStrategy", "pullSecretNamespaces", "livenessProbe", "readinessProbe"];

test("every value and every flag is explained in the schema", () => {
  const { properties = {} } = valuesSchema();
  for (const [name, { description, properties: inner }] of Object.entries(properties)) {
    assert.match(description ?? "", /^[A-Z`].*[.`]$/, name);
    if (OF_THE_API.includes(name)) continue;
    for (const [deeper, of] of Object.entries(inner ?? {}))
      assert.ok((of.description ?? "").length > 0, `${name}.${deeper}`);
  }
});

test("the chart asks for the Kubernetes that check asks for", () => {
  const [, minor] = /^>=1\.(\d+)\.0-0$/.exec(chart.kubeVersion) ?? [];
  const stateOf = (at: number): string => versionFinding({ text: "", minor: at }).state;
  assert.deepEqual([stateOf(Number(minor) - 1), stateOf(Number(minor))], ["missing", "ok"]);
});

test("Artifact Hub is told the image of this version, and changes that CHANGELOG.md has", () => {
  const { image }: { image: { registry: string; repository: string } } = loadYaml(
    text("manifests/chart/values.yaml"),
  );
  const name = [image.registry, image.repository].filter((part) => part !== "").join("/");
  assert.deepEqual(loadYaml(annotation("images")), [
    { name: "secretcast", image: `${name}:${chart.version}` },
  ]);
  const changes: readonly { kind: string; description: string }[] = loadYaml(annotation("changes"));
  assert.ok(changes.length > 0);
  // The newest section alone: those of older versions are not what changed.
  const [, newest = ""] = text("CHANGELOG.md").split(/^## .*$/m);
  for (const { kind, description } of changes) {
    assert.match(kind, /^(added|changed|deprecated|removed|fixed|security)$/);
    assert.ok(newest.includes(`- ${description}\n`), description);
  }
  const { license }: { license: string } = JSON.parse(text("package.json"));
  assert.equal(annotation("license"), license);
  assert.equal(annotation("category"), "security");
});

test("the icon is a small picture without a script or an address", () => {
  const picture = Buffer.from(chart.icon.replace(/^data:image\/svg\+xml;base64,/, ""), "base64");
  assert.ok(picture.length < 2000);
  assert.match(picture.toString(), /^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg" /);
  assert.doesNotMatch(picture.toString().replace(/ xmlns="[^"]*"/, ""), /script|href|url\(|http/);
});
