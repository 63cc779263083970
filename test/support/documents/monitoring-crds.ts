// Stand-ins for the CRDs of Prometheus' operator: an API server takes the chart's objects of these kinds. Of an
// endpoint they have the fields that the chart's values set, with the operator's own types, and no other. What the
// operator makes of them is not shown here.
const GROUP = "monitoring.coreos.com";

const text = { type: "string" };
const DURATION =
  "^(0|(([0-9]+)y)?(([0-9]+)w)?(([0-9]+)d)?(([0-9]+)h)?(([0-9]+)m)?(([0-9]+)s)?(([0-9]+)ms)?)$";
const duration = { type: "string", pattern: DURATION };
const relabelings = {
  type: "array",
  items: {
    type: "object",
    properties: {
      action: { ...text, default: "replace", enum: ["replace", "keep", "drop", "labeldrop"] },
      regex: text,
      sourceLabels: { type: "array", items: text },
      targetLabel: text,
    },
  },
};
const ENDPOINTS = {
  type: "array",
  items: {
    type: "object",
    properties: {
      port: text,
      path: text,
      interval: duration,
      scrapeTimeout: duration,
      honorLabels: { type: "boolean" },
      relabelings,
      metricRelabelings: relabelings,
    },
  },
};
const OPEN = { type: "object", "x-kubernetes-preserve-unknown-fields": true };

function definition(kind: string, plural: string, endpoints?: string): object {
  const properties = {
    selector: OPEN,
    ...(endpoints === undefined ? {} : { [endpoints]: ENDPOINTS }),
  };
  const spec = endpoints === undefined ? OPEN : { type: "object", properties };
  const schema = { type: "object", properties: { spec } };
  const version = { name: "v1", served: true, storage: true, schema: { openAPIV3Schema: schema } };
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${GROUP}` },
    spec: { group: GROUP, scope: "Namespaced", names: { kind, plural }, versions: [version] },
  };
}

export const MONITORING_CRDS: readonly object[] = [
  definition("PodMonitor", "podmonitors", "podMetricsEndpoints"),
  definition("ServiceMonitor", "servicemonitors", "endpoints"),
  definition("PrometheusRule", "prometheusrules"),
];
