// The fields by which rules of other tools select namespaces. Their CRDs demand these shapes, and a reader that
// takes a field of another shape for an absent one would widen the rule: `matchNamespace: team-a` is no list.
import { fields, resourceOf, type OldResource, type RawFields } from "./old-objects.ts";

type Shape = "texts" | "objects" | "object";
/** `*` is each item of a list. */
type Row = readonly [path: string, shape: Shape];

const SAID: Readonly<Record<Shape, string>> = {
  texts: "is no list of texts",
  objects: "is no list of mappings",
  object: "is no mapping",
};

const selector = (path: string): readonly Row[] => [
  [path, "object"],
  [`${path}.matchLabels`, "object"],
  [`${path}.matchExpressions`, "objects"],
  [`${path}.matchExpressions.*.values`, "texts"],
];

const block = (path: string): readonly Row[] => [
  [`${path}.resources`, "object"],
  ...["kinds", "names", "namespaces", "operations"].map((field): Row => [
    `${path}.resources.${field}`,
    "texts",
  ]),
  ...selector(`${path}.resources.selector`),
  ...selector(`${path}.resources.namespaceSelector`),
];

const matching = (path: string): readonly Row[] => [
  [path, "object"],
  ...block(path),
  ...["any", "all"].flatMap((word): readonly Row[] => [
    [`${path}.${word}`, "objects"],
    ...block(`${path}.${word}.*`),
  ]),
];

const POLICY: readonly Row[] = [
  ["spec.rules", "objects"],
  ...matching("spec.rules.*.match"),
  ...matching("spec.rules.*.exclude"),
];
const CONSTRAINTS = "spec.matchConstraints";
const PROJECTION: readonly Row[] = [
  ["spec.destination", "object"],
  ["spec.destination.namespaces", "texts"],
  ...selector("spec.destination.namespaceSelector"),
];

const ROWS: Readonly<Record<string, readonly Row[]>> = {
  ClusterSecret: [
    ["matchNamespace", "texts"],
    ["avoidNamespaces", "texts"],
  ],
  ClusterPolicy: POLICY,
  Policy: POLICY,
  GeneratingPolicy: [
    [CONSTRAINTS, "object"],
    ...selector(`${CONSTRAINTS}.objectSelector`),
    ...selector(`${CONSTRAINTS}.namespaceSelector`),
    ...["resourceRules", "excludeResourceRules"].flatMap((field): readonly Row[] => [
      [`${CONSTRAINTS}.${field}`, "objects"],
      [`${CONSTRAINTS}.${field}.*.resourceNames`, "texts"],
    ]),
  ],
  ClusterExternalSecret: [
    ["spec.namespaces", "texts"],
    ...selector("spec.namespaceSelector"),
    ["spec.namespaceSelectors", "objects"],
    ...selector("spec.namespaceSelectors.*"),
  ],
  ClusterSecretStore: [
    ["spec.conditions", "objects"],
    ["spec.conditions.*.namespaces", "texts"],
    ["spec.conditions.*.namespaceRegexes", "texts"],
    ...selector("spec.conditions.*.namespaceSelector"),
  ],
  ClusterProjection: PROJECTION,
  Projection: PROJECTION,
};

/** The first field of a tool's own object that has another shape than its CRD demands. */
export function shapeFault(raw: RawFields, resources: readonly OldResource[]): string | undefined {
  const resource = resourceOf(raw, resources);
  const rows = resource === undefined ? [] : (ROWS[resource.kind] ?? []);
  const found = rows.find(([path, shape]) =>
    valuesAt(raw, path.split(".")).some((value) => !hasShape(value, shape)),
  );
  if (!resource || !found) return undefined;
  const [path, shape] = found;
  const field = path.replaceAll(".*", "[]");
  return `${field} of ${resource.kind} ${String(fields(raw["metadata"])["name"])} ${SAID[shape]}`;
}

function valuesAt(value: unknown, [first, ...rest]: readonly string[]): readonly unknown[] {
  if (value === undefined || value === null) return [];
  if (first === undefined) return [value];
  if (first !== "*") return valuesAt(fields(value)[first], rest);
  return Array.isArray(value) ? value.flatMap((item: unknown) => valuesAt(item, rest)) : [];
}

function hasShape(value: unknown, shape: Shape): boolean {
  if (shape === "object") return isMapping(value);
  const isRight = (item: unknown): boolean =>
    shape === "texts" ? typeof item === "string" : isMapping(item);
  return Array.isArray(value) && value.every(isRight);
}

function isMapping(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
