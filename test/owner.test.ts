// owner.yaml, the one file with what only the owner of a publication knows: what is missing or wrong is named, every
// place takes its value from there, and a release asks for all of it. The page of the owner names each value.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { load } from "js-yaml";
import { stringify } from "yaml";
import {
  missingOf,
  OWNER_FILE,
  OWNER_VALUES,
  PLACES,
  readOwner,
  type Owner,
} from "../tools/release/owner-values.ts";

const ROOT = new URL("../", import.meta.url);
const text = (file: string): string => readFileSync(new URL(file, ROOT), "utf8");

const OWNER: Owner = {
  registry: "ghcr.io/example-org",
  home: "https://secretcast.example.org",
  sources: ["https://code.example.org/example-org/secretcast"],
  maintainers: [
    { name: "Ada Example", email: "ada@example.org" },
    { name: "Team $& Example", url: "https://code.example.org/team" },
  ],
  contacts: { security: "security@example.org", conduct: "https://example.org/conduct" },
  signing: {
    identity: "https://code.example.org/example-org/secretcast/.github/workflows/release.yml",
    issuer: "https://token.example.org",
  },
};
const filled = (of: Owner) => (file: string) => PLACES[file]?.(text(file), of) ?? stringify(of);

test("each value that is missing is named, and nothing else", () => {
  assert.deepEqual(readOwner(stringify(OWNER)), { kind: "whole", owner: OWNER });
  const empty = readOwner("");
  assert.ok(empty.kind === "partial");
  assert.deepEqual(
    empty.problems,
    Object.keys(OWNER_VALUES).map((path) => `${path} is missing`),
  );
  for (const path of Object.keys(OWNER_VALUES)) {
    const [first = "", second] = path.split(".");
    const given: Record<string, unknown> = structuredClone(OWNER);
    const without =
      second === undefined ? {} : { [first]: { ...Object(given[first]), [second]: "" } };
    delete given[first];
    const reading = readOwner(stringify({ ...given, ...without }));
    assert.deepEqual(reading, { kind: "partial", problems: [`${path} is missing`] });
  }
});

const WRONG: readonly (readonly [of: object, says: RegExp])[] = [
  [{ registry: "ghcr.io" }, /^registry is not HOST\/OWNER/],
  [{ registry: "ghcr.io/Owner" }, /^registry is not HOST\/OWNER in lower case: "ghcr\.io\/Owner"/],
  [{ registry: "ghcr.io/owner/" }, /^registry is not/],
  [{ home: "http://example.org" }, /^home is not an https:\/\/ address/],
  [{ home: 'https://example.org/"\nregistry: x' }, /^home is not/],
  [{ sources: "https://example.org/x" }, /^sources is not a list, each an https:\/\/ address/],
  [{ maintainers: [{ name: "A" }] }, /^maintainers is not a list, each a name with an email/],
  [{ maintainers: [{ name: "A", email: "a@b.c", phone: 1 }] }, /^maintainers is not/],
  [{ maintainers: ["A"] }, /^maintainers is not/],
  [
    { contacts: { security: "call us", conduct: "a@b.org" } },
    /^contacts\.security is not an e-mail/,
  ],
  [{ signing: { identity: "release.yml", issuer: "https://a.b" } }, /^signing\.identity is not/],
  [
    { signing: { identity: "https://a.b/release.yml@refs/tags/v1", issuer: "https://a.b" } },
    /^signing\.identity is not the https:\/\/ address .*, without @refs/,
  ],
  [{ regsitry: "x" }, /^regsitry is not known$/],
  [{ contacts: { ...OWNER.contacts, press: "a@b.org" } }, /^contacts\.press is not known$/],
];

test("a value that is wrong is named, with what it should be", () => {
  for (const [of, says] of WRONG) {
    const reading = readOwner(stringify({ ...OWNER, ...of }));
    assert.ok(reading.kind === "partial", JSON.stringify(of));
    const [problem = "", ...more] = reading.problems;
    assert.match(problem, says);
    assert.deepEqual(more, []);
  }
  const broken = readOwner("registry: [");
  assert.ok(broken.kind === "partial");
  assert.match(broken.problems.join(), /^not YAML: .*[^:]$/);
});

test("every place says what owner.yaml says, and a second run changes nothing", () => {
  const after = filled(OWNER);
  for (const [file, fill] of Object.entries(PLACES)) {
    assert.notEqual(after(file), text(file), file);
    assert.equal(fill(after(file), OWNER), after(file), `${file}, filled in twice`);
    const other = { ...OWNER, registry: "other.example/a/b", home: "https://other.example" };
    assert.equal(fill(fill(text(file), other), OWNER), after(file), `${file}, after another value`);
  }
  const { images } = load(after("manifests/kustomization.yaml")) as Kustomization;
  assert.equal(images[0]?.newName, "ghcr.io/example-org/secretcast");
  const { image } = load(after("manifests/chart/values.yaml")) as Values;
  assert.deepEqual([image.registry, image.repository], ["ghcr.io", "example-org/secretcast"]);
  const chart = load(after("manifests/chart/Chart.yaml")) as Chart;
  const { home, sources, maintainers } = OWNER;
  assert.deepEqual([chart.home, chart.sources, chart.maintainers], [home, sources, maintainers]);
  const before = load(text("manifests/chart/Chart.yaml")) as Chart;
  assert.deepEqual(load(chart.annotations["artifacthub.io/images"] ?? ""), [
    { name: "secretcast", image: `ghcr.io/example-org/secretcast:${before.version}` },
  ]);
  const links = load(chart.annotations["artifacthub.io/links"] ?? "");
  assert.deepEqual(links, [
    { name: "Documentation", url: home },
    { name: "Source", url: sources[0] },
  ]);
  const changes = "artifacthub.io/changes";
  assert.equal(chart.annotations[changes], before.annotations[changes]);
  assert.deepEqual(load(after("artifacthub-repo.yml")), {
    repositoryID: "",
    owners: [{ name: "Ada Example", email: "ada@example.org" }],
  });
  const { groups } = load(after("manifests/chart/monitoring/rules.yaml")) as Rules;
  const operations = text("docs/operations.md");
  const alerts = groups.flatMap(({ rules }) => rules);
  assert.ok(alerts.length > 10);
  for (const { alert, annotations } of alerts) {
    const section = alert.toLowerCase();
    assert.equal(annotations["runbook_url"], `${home}/operations.html#${section}`);
    assert.match(operations, new RegExp(`^### ${alert}$`, "m"));
  }
  const { homepage, repository, ...rest } = JSON.parse(after("package.json"));
  assert.deepEqual([homepage, repository], [home, { type: "git", url: `git+${sources[0]}.git` }]);
  const { homepage: _, repository: __, ...was } = JSON.parse(text("package.json"));
  assert.deepEqual(rest, was);
  assert.match(after("SECURITY.md"), /^> security@example\.org$/m);
  assert.match(after("CODE_OF_CONDUCT.md"), /^> https:\/\/example\.org\/conduct$/m);
  const { identity, issuer } = OWNER.signing;
  assert.ok(
    after("docs/release.md").includes(
      `\nIDENTITY=${identity}@refs/tags/v$VERSION\nISSUER=${issuer}\n`,
    ),
  );
});

type Rules = {
  readonly groups: readonly {
    readonly rules: readonly {
      readonly alert: string;
      readonly annotations: Readonly<Record<string, string>>;
    }[];
  }[];
};
type Kustomization = { readonly images: readonly { readonly newName: string }[] };
type Values = { readonly image: { readonly registry: string; readonly repository: string } };
type Chart = {
  readonly version: string;
  readonly home?: string;
  readonly sources?: readonly string[];
  readonly maintainers?: Owner["maintainers"];
  readonly annotations: Readonly<Record<string, string>>;
};

test("a release needs each value, the named registry, and every place filled in", () => {
  const after = filled(OWNER);
  assert.equal(missingOf(OWNER.registry, after), undefined);
  assert.equal(
    missingOf("ghcr.io/another", after),
    '--registry "ghcr.io/another" is not the registry of owner.yaml, ghcr.io/example-org',
  );
  const { home: _, ...homeless } = OWNER;
  const without = (file: string) => (file === OWNER_FILE ? stringify(homeless) : after(file));
  assert.equal(missingOf(OWNER.registry, without), "owner.yaml: home is missing (docs/owner.md)");
  for (const place of Object.keys(PLACES)) {
    const stale = (file: string) => (file === place ? text(file) : after(file));
    assert.equal(
      missingOf(OWNER.registry, stale),
      `${place}: not what owner.yaml says; run npm run owner, and commit`,
    );
  }
});

test("owner.yaml is whole or empty, and its places agree with it", () => {
  const reading = readOwner(text(OWNER_FILE));
  if (reading.kind === "whole") assert.equal(missingOf(reading.owner.registry, text), undefined);
  else
    for (const problem of reading.problems)
      assert.match(problem, / is missing$/, "what is given is right");
  assert.doesNotMatch(text(OWNER_FILE), /example|TODO|PLACEHOLDER|localhost/i);
});

test("the owner's page names each value and the command that follows", () => {
  const page = text("docs/owner.md");
  for (const path of Object.keys(OWNER_VALUES)) assert.ok(page.includes(`\`${path}\``), path);
  for (const file of Object.keys(PLACES)) assert.ok(page.includes(`\`${file}\``), file);
  assert.match(page, /^npm run owner$/m);
});
