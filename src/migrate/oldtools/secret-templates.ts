// Objects that make Secrets and give them metadata: a rule of another tool in such a template takes effect
// although no manifest of a Secret carries it.
import { fields } from "./old-objects.ts";

type Texts = Readonly<Record<string, string>>;

/** Annotations that an object gives to the Secret that it makes. */
export type SecretTemplate = {
  /** "KIND NAMESPACE/NAME" of the object. */
  readonly title: string;
  /** Of the annotations in the object, with dots. */
  readonly path: string;
  readonly annotations: Texts;
  /** Of the Secret, as far as the object says. */
  readonly namespace: string | undefined;
  readonly name: string | undefined;
};

/** An object is looked through to this depth, and no further than so many fields. */
const MOST_NESTED = 16;
const MOST_FIELDS = 20_000;

/** Where `raw`, which is no Secret, has annotations whose keys begin with one of `prefixes`. */
export function secretTemplates(
  raw: Readonly<Record<string, unknown>>,
  prefixes: readonly string[],
): readonly SecretTemplate[] {
  const metadata = fields(raw["metadata"]);
  const name = textOf(metadata["name"]);
  const namespace = textOf(metadata["namespace"]);
  const title = `${String(raw["kind"])} ${namespace ?? "default"}/${name ?? "?"}`;
  const found: SecretTemplate[] = [];
  let left = MOST_FIELDS;
  const note = (annotations: unknown, path: string): void => {
    const texts = ruleOf(annotations, prefixes);
    if (Object.keys(texts).length === 0) return;
    const made = secretNameOf(raw, path) ?? name;
    found.push({ title, path, annotations: texts, namespace, name: made });
  };
  const walk = (value: unknown, path: string, depth: number): void => {
    if (depth > MOST_NESTED || left <= 0) return;
    const entries = Array.isArray(value)
      ? value.map((item: unknown, at) => [`${path}[${at}]`, "", item] as const)
      : Object.entries(fields(value)).map(
          ([key, item]) => [path === "" ? key : `${path}.${key}`, key, item] as const,
        );
    for (const [inner, key, item] of entries) {
      if (--left <= 0) return;
      if (key === "annotations") note(item, inner);
      // cert-manager reads a template as JSON from this annotation of an Ingress or a Gateway.
      else if (key === "cert-manager.io/secret-template") note(templateIn(item), inner);
      else if (typeof item === "object" && item !== null) walk(item, inner, depth + 1);
      if (key === "annotations") walk(item, inner, depth + 1);
    }
  };
  walk(raw, "", 0);
  return found;
}

function ruleOf(annotations: unknown, prefixes: readonly string[]): Texts {
  return Object.fromEntries(
    Object.entries(fields(annotations)).flatMap(([key, value]) =>
      typeof value === "string" && prefixes.some((prefix) => key.startsWith(prefix))
        ? [[key, value] as const]
        : [],
    ),
  );
}

function templateIn(text: unknown): unknown {
  if (typeof text !== "string") return undefined;
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

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}
