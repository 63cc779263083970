// Rules of the old tool in objects that make Secrets (Certificates, ExternalSecrets, SealedSecrets, secret
// generators and others). They do not move by themselves: each is named with the line to type.
import { planMove } from "./plan-move.ts";
import type { MoveSettings } from "../moves/migration.ts";
import type { OldFlags } from "../oldtools/old-settings.ts";
import type { OldTool } from "../oldtools/old-tool.ts";
import { secretTemplates, type SecretTemplate } from "../oldtools/secret-templates.ts";

type Raw = Readonly<Record<string, unknown>>;

/** Kinds that carry a rule of the tool for themselves. */
const OF_THE_TOOL = new Set([
  "Secret",
  "ConfigMap",
  "ClusterSecret",
  "Namespace",
  "Role",
  "RoleBinding",
  "ServiceAccount",
]);

/** A line for each rule, of `objects` as files describe them. */
export async function templateProblems(
  objects: readonly Raw[],
  tool: OldTool,
  flags: OldFlags,
  settings: MoveSettings,
): Promise<readonly string[]> {
  const templates = objects
    .filter(({ kind }) => typeof kind === "string" && !OF_THE_TOOL.has(kind))
    .flatMap((raw) => secretTemplates(raw, tool.prefixes));
  const namespaces = objects.filter(({ kind }) => kind === "Namespace");
  const problems: string[] = [];
  for (const template of templates) {
    const { title, path } = template;
    const lines = await linesFor(template, namespaces, tool, flags, settings);
    const advice =
      lines.length > 0 ? `add there ${lines.join(" and ")}` : "add there a rule of secretcast";
    problems.push(`${title}: its Secret gets a rule of ${tool.name} from ${path}: ${advice}`);
  }
  return problems;
}

// As if the Secret were there with these annotations.
async function linesFor(
  { namespace = "default", name = "secret", annotations }: SecretTemplate,
  namespaces: readonly Raw[],
  tool: OldTool,
  flags: OldFlags,
  settings: MoveSettings,
): Promise<readonly string[]> {
  const metadata = { namespace, name, annotations };
  const secret = { apiVersion: "v1", kind: "Secret", metadata, data: { any: "" } };
  const { sources, copies } = await planMove(tool, [...namespaces, secret], flags, settings);
  const [source] = sources;
  const [copy] = copies;
  const words = source ? Object.entries(source.annotations) : [];
  if (words.length > 0) return words.map(([key, value]) => `${key}: ${JSON.stringify(value)}`);
  return copy?.pulls === true && copy.named !== undefined
    ? [`secretcast.io/from: ${copy.named}`]
    : [];
}
