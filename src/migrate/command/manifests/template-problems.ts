// Finds rules of the old tool that migrate does not edit. They are in objects that create Secrets
// (Certificates, ExternalSecrets, SealedSecrets, secret generators and others), and in files that are not
// manifests (templates, values, patches, kustomizations). Each problem contains the line to type.
import { readFileSync } from "node:fs";
import { planMove } from "../plan-move.ts";
import type { MoveSettings } from "../../moves/migration.ts";
import { fields, resourceOf, type OldResource } from "../../oldtools/old-objects.ts";
import type { OldFlags } from "../../oldtools/old-settings.ts";
import type { OldTool } from "../../oldtools/old-tool.ts";
import { UsageError } from "../../../controller/settings/config.ts";
import type { FileObject, OtherFile } from "../../../inspect/files/file-objects.ts";
import {
  mentions,
  secretTemplates,
  type SecretTemplate,
} from "../../../inspect/files/secret-templates.ts";
import { documentsOf } from "../../../inspect/files/yaml-documents.ts";
import { annotationKey } from "../../../controller/annotations/vocabulary.ts";
import { isNamespaceName, isSecretName, parseRef } from "../../../text/names.ts";
import type { StringMap } from "../../../text/string-map.ts";
import { PLACEHOLDER } from "./usable-objects.ts";

type Raw = Readonly<Record<string, unknown>>;

type Reading = {
  readonly tool: OldTool;
  readonly flags: OldFlags;
  readonly settings: MoveSettings;
  readonly namespaces: readonly Raw[];
};

/** Kinds whose own rule is for the tool, besides the tool's own kinds. */
const OF_THE_TOOL = new Set(["Secret", "Namespace", "Role", "RoleBinding", "ServiceAccount"]);

export type TemplateRules = {
  /** A line for each rule in an object or another file. */
  readonly problems: readonly string[];
  /** The objects that create Secrets, with the new annotations alone. */
  readonly patches: readonly unknown[];
};

export async function templateRules(
  objects: readonly FileObject[],
  others: readonly OtherFile[],
  reading: Reading,
): Promise<TemplateRules> {
  const problems: string[] = [];
  const patches: unknown[] = [];
  for (const { raw, where } of objects) {
    if (typeof raw["kind"] !== "string" || OF_THE_TOOL.has(raw["kind"])) continue;
    if (resourceOf(raw, reading.tool.resources)) continue;
    for (const template of secretTemplates(ownPart(raw), reading.tool.prefixes)) {
      const lines = await linesFor(template, reading);
      // A text may be a part of a rule. Annotations of an object are all of it.
      if (lines.nothing === true && /\bannotations$/.test(template.path)) continue;
      problems.push(templateProblem(where, template.title, template, lines, reading));
      const patch = patchOf(raw, template, lines);
      if (patch !== undefined) patches.push(patch);
    }
  }
  for (const other of others) problems.push(...(await otherProblems(other, reading)));
  return { problems, patches };
}

/** Undefined when a list is on the way, because a patch would replace it, or when nothing is to be set. */
function patchOf(
  { apiVersion, kind, metadata }: Raw,
  { path }: SecretTemplate,
  { annotations }: Lines,
): unknown {
  if (path.includes("[") || Object.keys(annotations).length === 0) return undefined;
  const { name, namespace } = fields(metadata);
  const value = path
    .split(".")
    .reduceRight<unknown>((inner, field) => ({ [field]: inner }), annotations);
  return { apiVersion, kind, metadata: { name, namespace }, ...fields(value) };
}

/** A ConfigMap's own annotations are a rule for itself. */
function ownPart(raw: Raw): Raw {
  if (raw["kind"] !== "ConfigMap") return raw;
  const { name, namespace } = fields(raw["metadata"]);
  return { ...raw, metadata: { name, namespace } };
}

async function otherProblems(
  { file, what }: OtherFile,
  reading: Reading,
): Promise<readonly string[]> {
  const { name, prefixes, resources, copyingText } = reading.tool;
  const text = readFileSync(file, "utf8");
  const copies = copyingText === undefined || copyingText.test(text);
  const isRule = copies && resources.some((one) => declares(text, one));
  if (!mentions(text, prefixes) && !isRule) return [];
  const problems: string[] = [];
  for (const raw of recordsIn(file, text)) {
    for (const template of secretTemplates(raw, prefixes))
      problems.push(
        templateProblem(file, what, template, await linesFor(template, reading), reading),
      );
  }
  if (problems.length > 0) return problems;
  return [
    `${file}: this ${what} contains a rule of ${name}, and is not edited: add the rule of secretcast there, or run migrate on what it renders`,
  ];
}

/** Whether a text that may not be YAML contains an object of this kind. Other groups have such kinds too. */
function declares(text: string, { group, kind }: OldResource): boolean {
  const kinds = [...text.matchAll(/^[ \t-]*kind:[ \t]*["']?(\w+)["']?[ \t\r]*$/gm)];
  return text.includes(`${group}/`) && kinds.some(([, found]) => found === kind);
}

/** The YAML documents of a file. Empty when it cannot be read as YAML. */
function recordsIn(file: string, text: string): readonly Raw[] {
  try {
    return documentsOf(file, text).map(({ value }) => fields(value));
  } catch (error) {
    if (error instanceof UsageError) return [];
    throw error;
  }
}

function templateProblem(
  where: string,
  title: string,
  template: SecretTemplate,
  { annotations, incomplete }: Lines,
  reading: Reading,
): string {
  const lines = Object.entries(annotations).map(([key, value]) => `${key}: ${shownValue(value)}`);
  const rule = Object.entries(template.annotations)
    .map(([key, value]) => `${key}: ${JSON.stringify(value)}`)
    .join(", ");
  const advice =
    lines.length > 0
      ? lines.join(" and ")
      : `a rule of secretcast${rule === "" ? "" : ` that says ${rule}`}`;
  const rest = incomplete.length > 0 ? `; ${incomplete.join("; ")}` : "";
  return `${where}: ${title}: its Secret gets a rule of ${reading.tool.name} from ${template.path}: add there ${advice}${rest}`;
}

/** A source that a mirror names needs no quotes. */
function shownValue(value: string): string {
  return parseRef(value) ? value : JSON.stringify(value);
}

type Lines = {
  readonly annotations: StringMap;
  /** The parts of the rule that the lines do not express. */
  readonly incomplete: readonly string[];
  /** The tool does nothing for a Secret with these annotations alone. */
  readonly nothing?: boolean;
};

const NO_LINES: Lines = { annotations: {}, incomplete: [] };

// The lines for a Secret with these annotations.
async function linesFor(
  { namespace, name, annotations: rule }: SecretTemplate,
  { tool, flags, settings, namespaces }: Reading,
): Promise<Lines> {
  if (Object.values(rule).some((value) => PLACEHOLDER.test(value))) return NO_LINES;
  const metadata = {
    namespace: namespace !== undefined && isNamespaceName(namespace) ? namespace : "default",
    name: name !== undefined && isSecretName(name) ? name : "secret",
    annotations: rule,
  };
  const secret = { apiVersion: "v1", kind: "Secret", metadata, data: { any: "" } };
  const move = await planMove(tool, [...namespaces, secret], flags, settings);
  const { sources, copies, problems } = move;
  if (sources.length === 0 && copies.length === 0 && problems.length === 0)
    return { ...NO_LINES, nothing: true };
  const [source] = sources;
  const [copy] = copies;
  const annotations = source?.annotations ?? {};
  const incomplete = source?.incomplete ?? [];
  if (Object.keys(annotations).length > 0 || copy?.pulls !== true || copy.named === undefined)
    return { annotations, incomplete };
  return { annotations: { [annotationKey("from")]: copy.named }, incomplete };
}
