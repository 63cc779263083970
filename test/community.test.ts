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

/** Each user of the threat model in docs/hardening.md, and the test that shows the row. */
const SHOWN_BY: readonly (readonly [user: string, file: string, name: string])[] = [
  [
    "tenant, annotations in their own namespace",
    "test/integration/scenarios-marks.test.ts",
    "forged marks gain a tenant nothing outside its own namespace, and no other Secret",
  ],
  [
    "tenant, a forged record on a pulling Secret",
    "test/integration/events.test.ts",
    "the owner of a forged pulling Secret learns nothing of other Secrets",
  ],
  [
    "tenant, where every namespace may publish",
    "test/integration/scenarios-marks.test.ts",
    "a tenant takes no place of others where every namespace may publish",
  ],
  [
    "tenant, every right on Secrets in their namespaces",
    "test/cluster/hostile.test.ts",
    "the controller withstands a hostile tenant for three steps, and the watchers see it",
  ],
  [
    "tenant, expensive patterns and lists",
    "test/integration/scenarios-bounds.test.ts",
    "a pattern made to backtrack for ever is refused or matched at once",
  ],
  [
    "tenant, a Secret of others",
    "test/integration/scenarios-ownership.test.ts",
    "an older Secret in the way is untouched by start, changes and resync",
  ],
  [
    "tenant, editing or deleting copies",
    "test/cluster/tenant-guard.test.ts",
    "a tenant neither edits nor deletes a copy; the controller goes on",
  ],
  [
    "tenant, an owner reference on a copy",
    "test/cluster/tenant-guard.test.ts",
    "a tenant cannot direct the garbage collector at a copy by an owner reference",
  ],
  [
    "Pod that connects to port 8080",
    "test/run/leader-flood.test.ts",
    "a Pod that floods the metrics costs a leader neither its Lease nor its memory",
  ],
  [
    "reader of logs, Events, metrics or the page",
    "test/integration/scenarios-secrecy.test.ts",
    "no log line, Event, metric or page has a value",
  ],
  [
    "reader of the process's memory",
    "test/integration/scenarios-secrecy.test.ts",
    "the heap holds no value of a Secret that is none of the controller's business",
  ],
  [
    "web page in the browser of a port-forward's user",
    "test/page/status.test.ts",
    "only loopback names are answered on loopback, so no web page can rebind one",
  ],
  [
    "holder of the controller's token",
    "test/cluster/guardrail.test.ts",
    "deleting what is no copy is refused",
  ],
  [
    "holder of this token, with `--only-names`",
    "test/cluster/stolen-token.test.ts",
    "a stolen token behind the guardrail reads and changes no foreign Secret",
  ],
  ["the controller", "test/cluster/rights.test.ts", "every right that is granted is used"],
  [
    "the controller with `--namespaces`",
    "test/cluster/listed-namespaces.test.ts",
    "the account has no right on Secrets off the list, nor on all of them",
  ],
  [
    "writer of the source list",
    "test/cluster/guardrail.test.ts",
    "the controller may not write what it publishes, with any marks of a copy",
  ],
  [
    "anyone that makes the API server slow or wrong",
    "test/integration/scenarios-endings.test.ts",
    "a controller whose watch of namespaces has gone deaf deletes no copy that is wanted",
  ],
  [
    "intruder in the pod",
    "test/dockerfile.test.ts",
    "the last stage has no npm, runs no command and is not root",
  ],
  [
    "publisher of a bad dependency",
    "test/package.test.ts",
    "the bill of materials is CycloneDX and lists every production package and no other",
  ],
];

test("every row of the threat model is shown by a test that is there", () => {
  const rows = tableRows(text("docs/hardening.md"), ["user", "can", "is limited by"]);
  assert.deepEqual(
    rows.map(([user]) => user),
    SHOWN_BY.map(([user]) => user),
  );
  for (const [user = "", can = "", limit = ""] of rows) assert.ok(can !== "" && limit !== "", user);
  for (const [user, file, name] of SHOWN_BY) {
    assert.ok(existsSync(new URL(file, ROOT)), `${user}: ${file}`);
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
