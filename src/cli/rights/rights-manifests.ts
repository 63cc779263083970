// Rights as manifests for `kubectl apply -f -`: roles with the reason for each rule, and their bindings.
import type { V1PolicyRule } from "@kubernetes/client-node";
import { Document, isMap, isSeq, visit } from "yaml";
import type { Ref } from "../../text/names.ts";
import type { RightsRule, RightsScope } from "./rights-rules.ts";

const RBAC = "rbac.authorization.k8s.io";
// yamllint's default is 80 columns, and a comment starts with its indent and "# ".
const MOST_COLUMNS = 100;

/** As JSON, in one list. */
export function rightsJson(scopes: readonly RightsScope[], account: Ref): string {
  const items = scopes.flatMap((scope) => objectsOf(scope, account));
  return `${JSON.stringify({ apiVersion: "v1", kind: "List", items }, undefined, 4)}\n`;
}

/** As YAML, one document for each object. Each rule has its reasons beside it. */
export function rightsYaml(scopes: readonly RightsScope[], account: Ref): string {
  const documents = scopes.flatMap((scope) =>
    objectsOf(scope, account).map((object) => textOf(object, scope.rules)),
  );
  return documents.join("---\n");
}

function objectsOf({ namespace, rules }: RightsScope, account: Ref): readonly object[] {
  const kind = namespace === undefined ? "ClusterRole" : "Role";
  const { name } = account;
  const apiVersion = `${RBAC}/v1`;
  const labels = { "app.kubernetes.io/name": "secretcast" };
  const metadata = { name, ...(namespace !== undefined && { namespace }), labels };
  return [
    { apiVersion, kind, metadata, rules: rules.map(ruleObject) },
    {
      apiVersion,
      kind: `${kind}Binding`,
      metadata,
      roleRef: { apiGroup: RBAC, kind, name },
      subjects: [{ kind: "ServiceAccount", name, namespace: account.namespace }],
    },
  ];
}

function ruleObject({ group, resources, names, verbs }: RightsRule): V1PolicyRule {
  const resourceNames = names && { resourceNames: [...names] };
  return { apiGroups: [group], resources: [...resources], ...resourceNames, verbs: [...verbs] };
}

function textOf(object: object, rules: readonly RightsRule[]): string {
  // kubectl reads YAML 1.1, in which the name `on` is no text.
  const document = new Document(object, { compat: "yaml-1.1" });
  const items = document.get("rules");
  if (isSeq(items))
    for (const [at, item] of items.items.entries()) {
      const reasons = rules[at]?.reasons ?? [];
      if (isMap(item)) item.commentBefore = reasons.map((reason) => ` ${reason}`).join("\n");
    }
  visit(document, {
    Seq: (_, list) => {
      list.flow = !list.items.some((item) => isMap(item));
    },
  });
  return document.toString({ lineWidth: MOST_COLUMNS, flowCollectionPadding: false });
}
