// Stand-ins for the CRDs of Prometheus' operator: an API server takes the chart's objects of these
// kinds, whatever they say. What the operator makes of them is not shown here.
const GROUP = "monitoring.coreos.com";

function definition(kind: string, plural: string): object {
  const schema = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
  const version = { name: "v1", served: true, storage: true, schema: { openAPIV3Schema: schema } };
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${GROUP}` },
    spec: { group: GROUP, scope: "Namespaced", names: { kind, plural }, versions: [version] },
  };
}

export const MONITORING_CRDS: readonly object[] = [
  definition("PodMonitor", "podmonitors"),
  definition("ServiceMonitor", "servicemonitors"),
  definition("PrometheusRule", "prometheusrules"),
];
