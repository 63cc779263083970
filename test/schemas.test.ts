// The schemas for editors are current, accept what the program accepts, and find a wrong name or form.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { Ajv, type ValidateFunction } from "ajv";
import { loadAll } from "js-yaml";
import { parseEntry } from "../src/controller/annotations/list-entry.ts";
import { FOLDER, schemas } from "../tools/schemas.ts";

const ROOT = join(import.meta.dirname, "..");

const validators = new Map<string, ValidateFunction>(
  Array.from(schemas(), ([name, text]) => [
    name,
    new Ajv({ strict: true, strictRequired: false, allowUnionTypes: true }).compile(
      JSON.parse(text),
    ),
  ]),
);
function accepts(schema: string, value: unknown): boolean {
  return (validators.get(schema) ?? assert.fail(schema))(value);
}

test("the files are what npm run schemas writes", () => {
  for (const [name, wanted] of schemas())
    assert.equal(readFileSync(join(FOLDER, name), "utf8"), wanted, "run npm run schemas");
});

const annotated = (annotations: Readonly<Record<string, unknown>>): object => ({
  metadata: { name: "x", annotations },
});

const OBJECTS: readonly (readonly [
  file: string,
  annotations: Readonly<Record<string, unknown>>,
  valid: boolean,
])[] = [
  ["secret-v1.json", { "secretcast.io/to": "team-*", "example.com/other": "" }, true],
  [
    "secret-v1.json",
    { "secretcast.io/from": "platform/registry", "secretcast.io/keys": "*" },
    true,
  ],
  ["configmap-v1.json", { "secretcast.io/allow": "*", "secretcast.io/on-delete": "keep" }, true],
  ["namespace-v1.json", { "secretcast.io/accept": "platform/*" }, true],
  ["secret-v1.json", { "secretcast.io/to-selecter": "a=b" }, false],
  ["secret-v1.json", { "secretcast.io/to": " " }, false],
  ["secret-v1.json", { "secretcast.io/paused": true }, false],
  ["secret-v1.json", { "secretcast.io/on-delete": "remove" }, false],
  ["secret-v1.json", { "secretcast.io/from": "registry" }, false],
  ["secret-v1.json", { "secretcast.io/accept": "true" }, false],
  ["namespace-v1.json", { "secretcast.io/to": "*" }, false],
];
for (const [file, annotations, valid] of OBJECTS)
  test(`${file} ${valid ? "accepts" : "refuses"} ${JSON.stringify(annotations)}`, () => {
    assert.equal(accepts(file, annotated(annotations)), valid);
  });

const ENTRIES: readonly (readonly [entry: object, valid: boolean])[] = [
  [{ secret: "cert-manager/wildcard-tls", to: "*", keys: ["tls.crt", "tls.key"] }, true],
  [{ configMap: "kube-system/ca", "to-selector": "tier=prod" }, true],
  [{ secret: "a/b" }, false],
  [{ to: "*" }, false],
  [{ secret: "a/b", configMap: "a/b", to: "*" }, false],
  [{ secret: "a/b", to: "*", tow: "x" }, false],
  [{ secret: "b", to: "*" }, false],
  [{ secret: "a/b", to: "*", name: ["x"] }, false],
];
for (const [entry, valid] of ENTRIES)
  test(`the schema of an entry and the program agree on ${JSON.stringify(entry)}`, () => {
    assert.equal(accepts("source-list-entry.json", entry), valid);
    const list = { namespace: "secretcast", name: "secretcast-sources" };
    const terms = { list, kinds: ["Secret", "ConfigMap"] as const };
    const steps = parseEntry("key", JSON.stringify(entry), terms);
    let step = steps.next();
    while (step.done !== true) step = steps.next();
    assert.equal(step.value.problems.length === 0, valid);
  });

test("the example is valid", () => {
  const documents = ["namespaces.yaml", "source.yaml"].flatMap((file) =>
    loadAll(readFileSync(join(ROOT, "manifests/example", file), "utf8")),
  );
  const kinds = documents.map((document) => {
    const { kind } = document as { readonly kind: string };
    assert.ok(accepts(`${kind.toLowerCase()}-v1.json`, document), kind);
    return kind;
  });
  assert.deepEqual(new Set(kinds), new Set(["Namespace", "Secret"]));
});
