// The rules of the roles in the chart and in manifests/namespace-rights/, written from the table of rights. `npm run chart:docs`
// writes them, and a test compares.
import { readFileSync } from "node:fs";
import { readConfig, type FlagValues } from "../src/controller/settings/config.ts";
import { neededRights, type NeededRight } from "../src/cli/rights/needed-rights.ts";
import { rightsYaml } from "../src/cli/rights/rights-manifests.ts";
import { fewestRules } from "../src/cli/rights/rights-rules.ts";

const MANIFESTS = new URL("../manifests/", import.meta.url);

// A place in the table that a value of the chart fills in.
const NAME = "the-name";

type Wanted = (right: NeededRight) => boolean;
const of =
  (...resources: readonly string[]): Wanted =>
  ({ resource, namespace }) =>
    resources.includes(resource) && (namespace === undefined || namespace === NAME);
const inNamespace: Wanted = ({ namespace }) => namespace !== undefined;

function rulesFor(flags: FlagValues, wanted: Wanted): string {
  const around = { env: {}, clusterNamespace: "secretcast", terminal: false };
  const rules = fewestRules(neededRights(readConfig(flags, around)).filter(wanted));
  const scope = { namespace: undefined, rules };
  const [role = ""] = rightsYaml([scope], { namespace: "", name: "" }).split("---\n");
  const [, items = ""] = role.split("\nrules:\n");
  return items.trimEnd().replaceAll(/^ {2}/gm, "");
}

/** The files as they should be, by their path in manifests/. */
export function rightsFiles(): ReadonlyMap<string, string> {
  const listed = { namespaces: NAME, "source-namespaces": NAME, "leader-elect": false };
  const maps = { ...listed, "config-maps": true, "source-list": "" };
  return new Map([
    ["chart/templates/_rights.tpl", chartRights()],
    ...(
      [
        ["namespace-rights/role.yaml", rulesFor(listed, of("secrets", "events"))],
        ["namespace-rights/config-maps/role.yaml", rulesFor(maps, mapsOf)],
      ] as const
    ).map(([file, rules]): [string, string] => [file, withRules(file, rules)]),
  ]);
}

const mapsOf: Wanted = ({ resource }) => resource === "configmaps";

function withRules(file: string, rules: string): string {
  const text = readFileSync(new URL(file, MANIFESTS), "utf8");
  return `${text.slice(0, text.indexOf("\nrules:\n"))}\nrules:\n${rules.replaceAll(/^/gm, "  ")}\n`;
}

function chartRights(): string {
  const listed = { namespaces: NAME, "source-namespaces": NAME };
  const source = { namespaces: "another", "source-namespaces": NAME };
  const objects = (flags: FlagValues): string =>
    rulesFor(flags, of("secrets")).replaceAll("[secrets]", "[{{ .resource }}]");
  const byName = (flags: FlagValues): string =>
    `{{- if .names -}}\n${objects({ ...flags, "only-names": NAME }).replaceAll(`[${NAME}]`, "{{ .names | toJson }}")}\n{{- else -}}\n${objects(flags)}\n{{- end }}`;
  const lease = { "lease-name": NAME, "lease-namespace": NAME, "source-list": "" };
  const list = { "source-list": NAME, "leader-elect": false };
  const quoted = `{{ include "secretcast.leaseName" . | toYaml }}`;
  const definitions: readonly (readonly [name: string, about: string, rules: string])[] = [
    ["write", "Objects in namespaces that receive copies.", byName(listed)],
    ["read", "Objects in namespaces that only publish.", byName(source)],
    ["events", "", rulesFor({}, of("events"))],
    ["namespaces", "", rulesFor({}, of("namespaces"))],
    [
      "listedNamespaces",
      "Namespaces by their names, which only a ClusterRole can grant.",
      named(rulesFor(listed, of("namespaces")), `{{ include "secretcast.namespaces" . }}`),
    ],
    [
      "ownNamespace",
      "The Namespace itself, in a Role.",
      named(
        rulesFor(listed, (right) => of("namespaces")(right) && inNamespace(right)),
        "[{{ . | toYaml }}]",
      ),
    ],
    ["lease", "", named(rulesFor(lease, of("leases")), `[${quoted}]`)],
    [
      "sourceList",
      "",
      named(
        rulesFor(list, ({ resource }) => resource === "configmaps"),
        `[{{ include "secretcast.sourceList" . | toYaml }}]`,
      ),
    ],
  ];
  const head =
    "{{- /* The rules of the roles. npm run chart:docs writes this file from src/cli/rights/needed-rights.ts. */ -}}\n";
  const bodies = definitions.map(
    ([name, about, rules]) =>
      `${about && `\n{{- /* ${about} */ -}}`}\n{{- define "secretcast.rules.${name}" -}}\n${rules}\n{{- end -}}\n`,
  );
  return head + bodies.join("");
}

function named(rules: string, by: string): string {
  return rules.replaceAll(`[${NAME}]`, by);
}
