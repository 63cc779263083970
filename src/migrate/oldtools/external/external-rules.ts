// The rules of External Secrets: ClusterExternalSecrets, and ExternalSecrets that none of them made. What
// secretcast cannot express is named in each.
import { fields, objectsIn, textsOf, type OldCustom, type RawFields } from "../old-objects.ts";
import { readExternalData, type ReadData } from "./external-data.ts";
import type { ExternalStores } from "./external-stores.ts";
import { readLabelSelector, type LabelSelector } from "../label-selectors.ts";
import type { NamespaceSet } from "../rule-targets.ts";
import { objectOf, stringOf, stringsOf } from "../../../controller/model/unstructured.ts";
import type { StringMap } from "../../../text/string-map.ts";

export const GROUP = "external-secrets.io";

export type ExternalRule = {
  readonly title: string;
  readonly custom: OldCustom;
  readonly copyName: string;
  readonly any: NamespaceSet;
  readonly read: ReadData;
  readonly deleting: boolean;
  /** The type of its copies. Those that it found keep their type when it is Opaque. */
  readonly type: string;
  readonly immutable: boolean;
  /** Labels and annotations of the ExternalSecret, which are on its copies. */
  readonly labels: StringMap;
  readonly annotations: StringMap;
  readonly problems: readonly string[];
  readonly incomplete: readonly string[];
};

/** An ExternalSecret, with the rule that it belongs to. */
export type ExternalObject = {
  readonly custom: OldCustom;
  readonly rule: ExternalRule | undefined;
  readonly copyName: string;
  readonly policy: string;
};

export type ExternalRules = {
  readonly rules: readonly ExternalRule[];
  readonly objects: readonly ExternalObject[];
};

export function readExternalRules(
  customs: readonly OldCustom[],
  stores: ExternalStores,
): ExternalRules {
  const cluster = customs.filter(({ kind }) => kind === "ClusterExternalSecret");
  const objects = customs.filter(({ kind }) => kind === "ExternalSecret");
  const byName = new Map(cluster.map((custom) => [custom.name, clusterRule(custom, stores)]));
  const own = new Map<OldCustom, ExternalRule>();
  for (const custom of objects) {
    if (makerOf(custom) === undefined) own.set(custom, ownRule(custom, stores));
  }
  return {
    rules: [...byName.values(), ...own.values()],
    objects: objects.map((custom) => {
      const { target } = fields(custom.fields["spec"]);
      return {
        custom,
        rule: own.get(custom) ?? byName.get(makerOf(custom) ?? ""),
        copyName: stringOf(objectOf(target).name) || custom.name,
        policy: creationPolicy(fields(custom.fields["spec"])),
      };
    }),
  };
}

/** The name of the ClusterExternalSecret that makes this ExternalSecret. */
export function makerOf({ fields: all }: OldCustom): string | undefined {
  const owners: unknown = fields(all["metadata"])["ownerReferences"];
  const owner = objectsIn(owners).find(({ kind }) => kind === "ClusterExternalSecret");
  return owner && stringOf(owner["name"]);
}

/** The ExternalSecret part of a rule. */
export function specOf({ kind, fields: all }: OldCustom): RawFields {
  const spec = fields(all["spec"]);
  return kind === "ClusterExternalSecret" ? fields(spec["externalSecretSpec"]) : spec;
}

export function creationPolicy({ target }: RawFields): string {
  return stringOf(fields(target)["creationPolicy"]) || "Owner";
}

function clusterRule(custom: OldCustom, stores: ExternalStores): ExternalRule {
  const { externalSecretName, externalSecretMetadata, ...to } = fields(custom.fields["spec"]);
  const { labels, annotations } = objectOf(externalSecretMetadata);
  const names = textsOf(to["namespaces"]) ?? [];
  const single = to["namespaceSelector"];
  const selectors: LabelSelector[] = [];
  const problems: string[] = [];
  for (const one of [
    ...(single === undefined ? [] : [single]),
    ...objectsIn(to["namespaceSelectors"]),
  ]) {
    const selector = readLabelSelector(one);
    if (typeof selector === "string") problems.push(`its selector cannot be read: ${selector}`);
    else selectors.push(selector);
  }
  if (names.length + selectors.length === 0) problems.push("it names no namespaces");
  return ruleOf(custom, stores, {
    title: `ClusterExternalSecret ${custom.name}`,
    name: stringOf(externalSecretName) || custom.name,
    any: { names, selectors, patterns: [] },
    labels: stringsOf(labels),
    annotations: stringsOf(annotations),
    problems,
  });
}

function ownRule(custom: OldCustom, stores: ExternalStores): ExternalRule {
  const { namespace = "", name, labels, annotations } = custom;
  return ruleOf(custom, stores, {
    title: `ExternalSecret ${namespace}/${name}`,
    name,
    any: { names: [namespace], selectors: [], patterns: [] },
    labels,
    annotations,
    problems: [],
  });
}

type Own = Pick<ExternalRule, "title" | "any" | "labels" | "annotations" | "problems"> & {
  /** The name of its ExternalSecrets. */
  readonly name: string;
};

function ruleOf(custom: OldCustom, stores: ExternalStores, own: Own): ExternalRule {
  const spec = specOf(custom);
  const target = fields(spec["target"]);
  const template = fields(target["template"]);
  const isPlain = target["template"] === undefined;
  const metadata = objectOf(template["metadata"]);
  const labels = isPlain ? own.labels : stringsOf(metadata.labels);
  const annotations = isPlain ? own.annotations : stringsOf(metadata.annotations);
  const problems = [...own.problems, ...problemsOf(spec, target, template)];
  return {
    title: own.title,
    custom,
    copyName: stringOf(target["name"]) || own.name,
    any: own.any,
    read: readExternalData(spec, stores, custom.namespace),
    deleting: custom.deleting,
    type: stringOf(template["type"]) || "Opaque",
    immutable: target["immutable"] === true,
    labels,
    annotations,
    problems,
    incomplete: incompleteOf(spec),
  };
}

function problemsOf(spec: RawFields, target: RawFields, template: RawFields): readonly string[] {
  const problems: string[] = [];
  const { manifest } = target;
  if (manifest !== undefined && fields(manifest)["kind"] !== "Secret") {
    problems.push(`it makes a ${stringOf(fields(manifest)["kind"])}, and only Secrets are moved`);
  }
  const policy = creationPolicy(spec);
  if (policy === "None") problems.push("it makes no Secret (creationPolicy: None)");
  else if (policy !== "Owner" && policy !== "Orphan") {
    problems.push(`it writes into Secrets of others (creationPolicy: ${policy})`);
  }
  const { data, templateFrom } = template;
  if (Object.keys(fields(data)).length + objectsIn(templateFrom).length > 0) {
    problems.push("its data are made by a template");
  }
  if ((textsOf(objectOf(template["metadata"]).finalizers) ?? []).length > 0) {
    problems.push("its template puts finalizers on the copies");
  }
  const refresh = stringOf(spec["refreshPolicy"]);
  if (refresh === "CreatedOnce" || refresh === "OnChange") {
    problems.push(`its copies do not follow their source (refreshPolicy: ${refresh})`);
  } else if (isZero(spec["refreshInterval"])) {
    problems.push("its copies do not follow their source (refreshInterval: 0)");
  }
  return problems;
}

/** Reads a Go duration. */
function isZero(interval: unknown): boolean {
  return /^(?:[+-]?(?:0+(?:\.0*)?|\.0+)(?:[a-zµμ]+|$))+$/u.test(String(interval));
}

function incompleteOf(spec: RawFields): readonly string[] {
  if (spec["syncWindows"] === undefined) return [];
  return ["its sync windows cannot be expressed: a changed source is copied at once"];
}

/** Why a rule of this cluster does not move. Undefined when it does, or is left. */
export function externalFault({ read, problems }: ExternalRule): string | undefined {
  if (read.kind === "left") return undefined;
  if (problems.length > 0) return problems.join("; ");
  return read.kind === "refused" ? read.why : undefined;
}
