// What a reader needs before a first report: the threat model names tests that are there, the forms
// ask for what `secretcast check` says, and what only the owner knows is marked and not made up.
import assert from "node:assert/strict";
import { existsSync, globSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { loadYaml } from "@kubernetes/client-node";
import { tableRows } from "./support/documents/markdown.ts";

const ROOT = new URL("../", import.meta.url);
const text = (file: string): string => readFileSync(new URL(file, ROOT), "utf8");
const SECURITY = text("SECURITY.md");

test("every row of the threat model names a test that is there", () => {
  const rows = tableRows(text("docs/hardening.md"), ["user", "can", "is limited by", "test"]);
  assert.ok(rows.length >= 15);
  for (const [user = "", can = "", limit = "", shown = ""] of rows) {
    assert.ok(user !== "" && can !== "" && limit !== "", shown);
    const [, file = "", name = ""] = /^`(test\/\S+\.test\.ts): (.+)`$/.exec(shown) ?? [];
    assert.ok(existsSync(new URL(file, ROOT)), `${user}: ${shown}`);
    // A name as it stands in the file; one that is made of parts is named by its beginning.
    assert.ok(
      ['"', "`"].some((quote) => text(file).includes(`${quote}${name}`)),
      `${file} has no test "${name}"`,
    );
  }
});

test("SECURITY.md says what CI runs on", () => {
  const ci = loadYaml<{
    jobs: { check: { strategy: { matrix: Readonly<Record<string, readonly string[]>> } } };
  }>(text(".github/workflows/ci.yml"));
  const { node = [], kubernetes = [] } = ci.jobs.check.strategy.matrix;
  const range = `${kubernetes[0]} to ${kubernetes.at(-1)}`;
  const nodes = node.join(", ").replace(/, (\d+)$/, " and $1");
  assert.ok(SECURITY.includes(`Node ${nodes} and on Kubernetes ${range}`));
});

test("addresses that only the owner knows are marked until owner.yaml has them", () => {
  for (const [file, mark] of [
    ["SECURITY.md", "SECURITY-CONTACT"],
    ["CODE_OF_CONDUCT.md", "CONDUCT-CONTACT"],
  ] as const) {
    const given = /^> (.+)$/m.exec(text(file))?.[1] ?? assert.fail(`${file} has no address`);
    // Filled in, it is an address; before that it is the mark and nothing that looks like one.
    if (given !== `\`${mark}\``) assert.match(given, /^\S+@\S+\.\S+$|^https:\/\//);
  }
});

type Form = {
  readonly name: string;
  readonly description: string;
  readonly body: readonly {
    readonly type: string;
    readonly id?: string;
    readonly attributes: { readonly placeholder?: string };
    readonly validations?: { readonly required?: boolean };
  }[];
};

test("each form asks for what secretcast check says; the one for faults insists on it", () => {
  const files = globSync(".github/ISSUE_TEMPLATE/*.yml", { cwd: ROOT });
  const forms = files.filter((file) => !file.endsWith("/config.yml"));
  assert.ok(forms.length >= 2);
  for (const file of forms) {
    const form = loadYaml<Form>(text(file));
    assert.ok(form.name !== "" && form.description !== "", file);
    const ids = form.body.flatMap(({ id }) => (id === undefined ? [] : [id]));
    assert.equal(new Set(ids).size, ids.length, file);
    const asked = form.body.find(({ attributes }) =>
      attributes.placeholder?.startsWith("$ secretcast check"),
    );
    assert.ok(asked, `${file} asks for no check`);
    if (file.endsWith("/bug.yml")) assert.equal(asked.validations?.required, true);
  }
});
