// The policy of early-check knows the words, the marks and the forms that the controller knows; what it says
// of values is compared with the parsers' answers on a real API server.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { loadYaml, type V1ValidatingAdmissionPolicy } from "@kubernetes/client-node";
import {
  DATA_KEY_GLOBS,
  METADATA_GLOBS,
  NAMESPACE_GLOBS,
  SOURCE_GLOBS,
} from "../src/text/globs.ts";
import {
  DATA_KEY_FORM,
  LABEL_KEY_FORM,
  LABEL_VALUE_FORM,
  REF_FORM,
  SECRET_NAME_FORM,
} from "../src/text/names.ts";
import {
  ANNOTATION_NAMES,
  isMark,
  MARKS,
  NAMESPACE_ANNOTATIONS,
  PULL_ANNOTATIONS,
  SOURCE_ANNOTATIONS,
} from "../src/controller/annotations/vocabulary.ts";

const FILE = new URL("../manifests/components/early-check/policy.yaml", import.meta.url);
const { spec } = loadYaml<V1ValidatingAdmissionPolicy>(readFileSync(FILE, "utf8"));

function variable(name: string): string {
  const found = spec?.variables?.find((one) => one.name === name);
  return found?.expression ?? assert.fail(`no variable ${name}`);
}

/** The words of a list in CEL. */
function listed(name: string): readonly string[] {
  return Array.from(variable(name).matchAll(/'([^']*)'/g), ([, word = ""]) => word);
}

test("its words are those that users write, in the controller's order, and its marks ours", () => {
  assert.deepEqual(listed("sourceWords"), SOURCE_ANNOTATIONS);
  const words = [...listed("sourceWords"), ...listed("words")];
  assert.deepEqual(new Set(words), new Set(ANNOTATION_NAMES.filter((name) => !isMark(name))));
  assert.deepEqual(new Set(listed("marks")), new Set(MARKS));
  const unknown = variable("unknown");
  assert.ok(unknown.includes(`'${NAMESPACE_ANNOTATIONS.join(", ")}'`));
  assert.ok(unknown.includes(`'${PULL_ANNOTATIONS.join(", ")}, ' + variables.sourceWords`));
});

test("it says what would be right in the controller's words", () => {
  const said = spec?.variables?.map(({ expression }) => expression).join("\n") ?? "";
  for (const form of [
    ...[NAMESPACE_GLOBS, SOURCE_GLOBS, DATA_KEY_GLOBS, METADATA_GLOBS].map((glob) => glob.form),
    SECRET_NAME_FORM,
    REF_FORM,
    DATA_KEY_FORM,
    LABEL_KEY_FORM,
    LABEL_VALUE_FORM,
  ])
    assert.ok(said.includes(`${form}'`), form);
});

test("its expressions take the characters that the controller's globs take", () => {
  const said = spec?.variables?.map(({ expression }) => expression).join("\n") ?? "";
  for (const { allowed } of [NAMESPACE_GLOBS, SOURCE_GLOBS, DATA_KEY_GLOBS, METADATA_GLOBS])
    for (const [characters] of allowed.source.matchAll(/\[[^\]]*\]/g))
      assert.ok(said.includes(characters), characters);
});
