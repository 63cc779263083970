// Finds objects that create Secrets and set their metadata. A rule in such a template takes effect although
// no Secret manifest contains it. A rule is a mapping with a key of the tool, in any field. A text that
// contains such a key (an inline patch, values of a chart) counts too.
import { isRecord } from "../../../packages/kube/json.ts";
import type { StringMap } from "../../text/string-map.ts";

/** Annotations that an object gives to the Secret that it creates. */
export type SecretTemplate = {
  /** "KIND NAMESPACE/NAME" of the object. */
  readonly title: string;
  /** Path of the annotations in the object, with dots. */
  readonly path: string;
  /** Empty: the rule is inside a text. */
  readonly annotations: StringMap;
  /** Namespace of the Secret, if the object sets it. */
  readonly namespace: string | undefined;
  readonly name: string | undefined;
};

/** Limits for the depth and the number of fields that are searched in an object. */
const MOST_NESTED = 16;
const MOST_FIELDS = 20_000;

/** kubectl keeps the whole manifest here, and a status repeats what the object says elsewhere. */
const REPEATED = new Set(["kubectl.kubernetes.io/last-applied-configuration", "status"]);

/** Where `raw`, which is not a Secret, has a rule whose keys begin with one of `prefixes`. */
export function secretTemplates(
  raw: Readonly<Record<string, unknown>>,
  prefixes: readonly string[],
): readonly SecretTemplate[] {
  const metadata = fields(raw["metadata"]);
  const name = textOf(metadata["name"]);
  const namespace = textOf(metadata["namespace"]);
  const kind = textOf(raw["kind"]) ?? "object";
  const title = `${kind} ${namespace ?? "default"}/${name ?? "?"}`;
  const found: SecretTemplate[] = [];
  let left = MOST_FIELDS;
  const note = (annotations: StringMap, path: string): void => {
    const created = secretNameOf(raw, path) ?? name;
    found.push({ title, path, annotations, namespace, name: created });
  };
  const walk = (value: unknown, path: string, depth: number): void => {
    if (depth > MOST_NESTED || left <= 0) return;
    const rule = ruleOf(value, prefixes);
    if (Object.keys(rule).length > 0) note(rule, path);
    const entries = Array.isArray(value)
      ? value.map((item: unknown, at) => [`${path}[${at}]`, "", item] as const)
      : Object.entries(fields(value)).map(
          ([key, item]) => [path === "" ? key : `${path}.${key}`, key, item] as const,
        );
    for (const [inner, key, item] of entries) {
      if (--left <= 0) return;
      if (REPEATED.has(key) || Object.hasOwn(rule, key)) continue;
      if (typeof item === "string") {
        // cert-manager reads a template as JSON from an annotation of an Ingress or a Gateway.
        if (mentions(item, prefixes)) note(ruleOf(templateIn(item), prefixes), inner);
      } else walk(item, inner, depth + 1);
    }
  };
  walk(raw, "", 0);
  return found;
}

/**
 * Whether a line of `text` that is not a comment sets a key that begins with one of `prefixes`. An address, an
 * image or an apiVersion that contains the domain is not a rule.
 */
export function mentions(text: string, prefixes: readonly string[]): boolean {
  const keys = prefixes.map((prefix) => (prefix.endsWith("/") ? prefix : `${prefix}/`));
  const spellings = keys.flatMap(spellingsOf);
  if (!spellings.some(({ key }) => text.includes(key))) return false;
  return text
    .split("\n")
    .some((line) => !isComment(line) && spellings.some((spelling) => isSet(line, spelling)));
}

function isComment(line: string): boolean {
  const begins = line.trimStart();
  return begins.startsWith("#") || begins.startsWith("//");
}

/** `plain`: a domain in another text looks the same. */
type Spelling = { readonly key: string; readonly plain: boolean };

/** In YAML, as a pointer of a JSON patch, and as Helm and Argo CD escape the path of a value. */
function spellingsOf(key: string): readonly Spelling[] {
  return [
    { key, plain: true },
    { key: key.replaceAll("/", "~1"), plain: false },
    { key: key.replaceAll(".", String.raw`\.`), plain: false },
    { key: key.replaceAll(".", String.raw`\\.`), plain: false },
  ];
}

const OF_A_NAME = /[A-Za-z0-9._-]/;

function isSet(line: string, { key, plain }: Spelling): boolean {
  for (let at = line.indexOf(key); at >= 0; at = line.indexOf(key, at + 1)) {
    if (!plain) return true;
    let end = at + key.length;
    while (end < line.length && OF_A_NAME.test(line.charAt(end))) end++;
    const isWhole = at === 0 || !/[A-Za-z0-9._/@-]/.test(line.charAt(at - 1));
    if (!isWhole || end === at + key.length) continue;
    // Quotes, brackets and blanks may stand between the key and its value.
    while (end < line.length && /["'\\\]\s]/.test(line.charAt(end))) end++;
    if (line.charAt(end) === ":" || line.charAt(end) === "=") return true;
  }
  return false;
}

function ruleOf(annotations: unknown, prefixes: readonly string[]): StringMap {
  if (Array.isArray(annotations)) return {};
  return Object.fromEntries(
    Object.entries(fields(annotations)).flatMap(([key, value]) =>
      typeof value === "string" && prefixes.some((prefix) => key.startsWith(prefix))
        ? [[key, value] as const]
        : [],
    ),
  );
}

function templateIn(text: string): unknown {
  try {
    return fields(JSON.parse(text))["annotations"];
  } catch {
    return undefined;
  }
}

// The fields by which the known kinds name their Secret.
function secretNameOf(raw: Readonly<Record<string, unknown>>, path: string): string | undefined {
  const spec = fields(raw["spec"]);
  const generator = /^secretGenerator\[(\d+)\]/.exec(path)?.[1];
  const generators = raw["secretGenerator"];
  if (generator !== undefined && Array.isArray(generators)) {
    return textOf(fields(generators[Number(generator)])["name"]);
  }
  const [tls] = Array.isArray(spec["tls"]) ? (spec["tls"] as readonly unknown[]) : [];
  return (
    textOf(spec["secretName"]) ??
    textOf(fields(spec["target"])["name"]) ??
    textOf(fields(spec["destination"])["name"]) ??
    textOf(fields(fields(fields(spec["template"])["metadata"]))["name"]) ??
    textOf(fields(spec["output"])["name"]) ??
    textOf(fields(tls)["secretName"])
  );
}

function fields(value: unknown): Readonly<Record<string, unknown>> {
  return isRecord(value) ? value : {};
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}
