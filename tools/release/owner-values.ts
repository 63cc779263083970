// The values that only the owner of a publication knows, from owner.yaml, and every place that needs one of them.
// Rules on text: `npm run owner` reads and writes, and a release asks whether something is missing.
import { isDeepStrictEqual } from "node:util";
import { parse, stringify } from "yaml";

export const OWNER_FILE = "owner.yaml";

type Maintainer = { readonly name: string; readonly email?: string; readonly url?: string };

export type Owner = {
  /** HOST/OWNER of the image and the chart, without a slash at its end. */
  readonly registry: string;
  readonly home: string;
  readonly sources: readonly string[];
  readonly maintainers: readonly Maintainer[];
  readonly contacts: { readonly security: string; readonly conduct: string };
  /** Of the job that signs: its definition without the tag, and who says that it is that job. */
  readonly signing: { readonly identity: string; readonly issuer: string };
};

export type Reading =
  | { readonly kind: "whole"; readonly owner: Owner }
  /** A phrase for each value that is missing or wrong. */
  | { readonly kind: "partial"; readonly problems: readonly string[] };

const REGISTRY = /^[a-z0-9][a-z0-9.-]*(:\d+)?(\/[a-z0-9]+([._-]+[a-z0-9]+)*)+$/;
const ADDRESS = /^https:\/\/[\w.-]+\.[\w.-]+(:\d+)?(\/[\w./~%@:+-]*)?$/;
const EMAIL = /^[\w.+-]+@[\w-]+(\.[\w-]+)+$/;
const NAME = /^[^\s"\\`][^\n"\\`]{0,99}$/;

type Rule = { readonly wants: string; readonly fits: (value: unknown) => boolean };

const matching = (pattern: RegExp, wants: string): Rule => ({
  wants,
  fits: (value) => typeof value === "string" && pattern.test(value),
});
const listOf = ({ wants, fits }: Rule): Rule => ({
  wants: `a list, each ${wants}`,
  fits: (value) => Array.isArray(value) && value.every(fits),
});
const address = matching(ADDRESS, "an https:// address");
const contact: Rule = {
  wants: "an e-mail address or an https:// address",
  fits: (value) => typeof value === "string" && (EMAIL.test(value) || ADDRESS.test(value)),
};
const person: Rule = {
  wants: "a name with an email or an https:// url",
  fits: (value) => {
    const { name, email, url, ...others } = recordOf(value);
    const fits = (of: unknown, pattern: RegExp) => typeof of === "string" && pattern.test(of);
    const isReachable = email === undefined ? fits(url, ADDRESS) : fits(email, EMAIL);
    const isWhole = url === undefined || fits(url, ADDRESS);
    return fits(name, NAME) && isReachable && isWhole && Object.keys(others).length === 0;
  },
};

/** `npm run owner` adds the tag. */
const definition = matching(
  new RegExp(`^(?!.*@refs/)${ADDRESS.source.slice(1)}`),
  "the https:// address of the job's definition, without @refs/…",
);

/** Each value by its path, in the order of the page. */
export const OWNER_VALUES: Readonly<Record<string, Rule>> = {
  registry: matching(REGISTRY, "HOST/OWNER in lower case"),
  home: address,
  sources: listOf(address),
  maintainers: listOf(person),
  "contacts.security": contact,
  "contacts.conduct": contact,
  "signing.identity": definition,
  "signing.issuer": address,
};

export function readOwner(text: string): Reading {
  let given;
  try {
    given = recordOf(parse(text));
  } catch (error) {
    const [said = ""] = String(error instanceof Error ? error.message : error).split("\n", 1);
    return { kind: "partial", problems: [`not YAML: ${said.replace(/:$/, "")}`] };
  }
  const problems = Object.entries(OWNER_VALUES).flatMap(([path, { wants, fits }]) => {
    const value = at(given, path);
    if (isEmpty(value)) return [`${path} is missing`];
    return fits(value) ? [] : [`${path} is not ${wants}: ${JSON.stringify(value)}`];
  });
  const unknown = leavesOf(given).filter((path) => OWNER_VALUES[path] === undefined);
  const all = [...problems, ...unknown.map((path) => `${path} is not known`)];
  return all.length > 0
    ? { kind: "partial", problems: all }
    : { kind: "whole", owner: given as Owner };
}

function isEmpty(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0;
  return value === undefined || value === null || value === "";
}

function leavesOf(given: Readonly<Record<string, unknown>>, before = ""): readonly string[] {
  return Object.entries(given).flatMap(([key, value]) => {
    const deeper = leavesOf(recordOf(value), `${before}${key}.`);
    return deeper.length > 0 ? deeper : [before + key];
  });
}

function at(value: unknown, path: string): unknown {
  return path.split(".").reduce((inner: unknown, key) => recordOf(inner)[key], value);
}

function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  const isRecord = typeof value === "object" && value !== null && !Array.isArray(value);
  return isRecord ? Object.fromEntries(Object.entries(value)) : {};
}

type Fill = (text: string, owner: Owner) => string;

/** Every file that needs a value, and what becomes of its text. Filled twice, it is the same. */
export const PLACES: Readonly<Record<string, Fill>> = {
  "manifests/kustomization.yaml": (text, { registry }) =>
    setLine(text, /^ {4}newName: .*$/m, `    newName: ${registry}/secretcast`),
  "manifests/chart/values.yaml": (text, { registry }) => {
    const [host = "", ...path] = registry.split("/");
    const named = setLine(text, /^ {2}registry: .*$/m, `  registry: ${host}`);
    const repository = [...path, "secretcast"].join("/");
    return setLine(named, /^ {2}repository: .*$/m, `  repository: ${repository}`);
  },
  "manifests/chart/Chart.yaml": fillChart,
  "manifests/chart/monitoring/rules.yaml": fillRules,
  "artifacthub-repo.yml": (text, { maintainers }) => {
    const owners = maintainers.flatMap(({ name, email }) => (email ? [{ name, email }] : []));
    const [before = ""] = text.split(/^owners:/m);
    return before + stringify({ owners });
  },
  "package.json": fillPackage,
  "SECURITY.md": (text, { contacts }) => setLine(text, /^> .*$/m, `> ${contacts.security}`),
  "CODE_OF_CONDUCT.md": (text, { contacts }) => setLine(text, /^> .*$/m, `> ${contacts.conduct}`),
  "docs/release.md": (text, { signing }) => {
    const identity = `IDENTITY=${signing.identity}@refs/tags/v$VERSION`;
    const named = setLine(text, /^IDENTITY=.*$/m, identity);
    return setLine(named, /^ISSUER=.*$/m, `ISSUER=${signing.issuer}`);
  },
};

/** The files that are not what the owner's values make of them. */
function unfilled(owner: Owner, read: (file: string) => string): readonly string[] {
  return Object.entries(PLACES)
    .filter(([file, fill]) => fill(read(file), owner) !== read(file))
    .map(([file]) => file);
}

/** Why nothing can be published in this registry; undefined where it can. */
export function missingOf(registry: string, read: (file: string) => string): string | undefined {
  const reading = readOwner(read(OWNER_FILE));
  if (reading.kind === "partial")
    return `${OWNER_FILE}: ${reading.problems.join("; ")} (docs/owner.md)`;
  const { owner } = reading;
  if (owner.registry !== registry)
    return `--registry "${registry}" is not the registry of ${OWNER_FILE}, ${owner.registry}`;
  const stale = unfilled(owner, read);
  if (stale.length === 0) return undefined;
  return `${stale.join(", ")}: not what ${OWNER_FILE} says; run npm run owner, and commit`;
}

function setLine(text: string, line: RegExp, by: string): string {
  if (!line.test(text)) throw new Error(`no line ${line.source}`);
  return text.replace(line, () => by);
}

const MARK = "# npm run owner writes what is between this line and the keywords.\n";

function fillChart(text: string, { registry, home, sources, maintainers }: Owner): string {
  const [before, after] = [text.indexOf(MARK) + MARK.length, text.indexOf("\nkeywords:\n") + 1];
  if (before < MARK.length || after < before)
    throw new Error("Chart.yaml has no mark of npm run owner");
  const facts = stringify({ home, sources, maintainers });
  const links = stringify([
    { name: "Documentation", url: home },
    { name: "Source", url: sources[0] },
  ]);
  const annotation = `  artifacthub.io/links: |\n${links.replaceAll(/^(?=.)/gm, "    ")}`;
  return `${text.slice(0, before)}${facts}${text.slice(after)}`
    .replace(/^ {2}artifacthub\.io\/links: \|\n(?: {4}.*\n)+/m, "")
    .replace(/^annotations:\n/m, (line) => `${line}${annotation}`)
    .replace(/^( {6}image: )\S*?(secretcast:)/m, (_, head, name) => `${head}${registry}/${name}`);
}

/** Each alert links to its section of the page for operators, on the site of the documentation. */
function fillRules(text: string, { home }: Owner): string {
  const page = `${home.replace(/\/$/, "")}/operations.html`;
  return text
    .replaceAll(/^ {10}runbook_url: .*\n/gm, "")
    .replaceAll(
      /^ {6}- alert: (\w+)\n[^]*?^ {8}annotations:\n/gm,
      (alert, name: string) => `${alert}          runbook_url: ${page}#${name.toLowerCase()}\n`,
    );
}

function fillPackage(text: string, { home, sources }: Owner): string {
  const [source = ""] = sources;
  const given: Readonly<Record<string, unknown>> = JSON.parse(text);
  const url = `git+${source.replace(/(\.git)?\/?$/, ".git")}`;
  const own = { homepage: home, repository: { type: "git", url } };
  if (isDeepStrictEqual({ ...given, ...own }, given)) return text;
  // Where they were, or after the license.
  const entries = Object.entries(given)
    .filter(([key]) => !Object.hasOwn(own, key))
    .flatMap((entry) => (entry[0] === "license" ? [entry, ...Object.entries(own)] : [entry]));
  return `${JSON.stringify(Object.fromEntries(entries), null, 2)}\n`;
}
