// The fields of an object with their types, as far as strict decoding and field merging need them. A shape
// is deliberately shallow where the sandbox stores a field unchanged ("any"). Fields are in the order of their
// numbers in protobuf, as in the generated.proto files of Kubernetes 1.37.

export type Shape =
  | "string"
  | "bytes"
  | "boolean"
  | "integer"
  | "time"
  | "microTime"
  | "any"
  | { readonly map: Shape }
  | { readonly list: Shape }
  /** `unused`: numbers in protobuf that no field has. */
  | { readonly fields: Fields; readonly unused?: readonly number[] };

export type Fields = { readonly [field: string]: Shape };

const strings: Shape = { map: "string" };

/** Fields that are strings. */
export function stringFields(...names: readonly string[]): Fields {
  return Object.fromEntries(names.map((name) => [name, "string"]));
}

const ownerReference: Shape = {
  unused: [2],
  fields: {
    ...stringFields("kind", "name", "uid", "apiVersion"),
    controller: "boolean",
    blockOwnerDeletion: "boolean",
  },
};

const managedField: Shape = {
  unused: [5],
  fields: {
    ...stringFields("manager", "operation", "apiVersion"),
    time: "time",
    fieldsType: "string",
    fieldsV1: "any",
    subresource: "string",
  },
};

export const metadataShape: Shape = {
  unused: [15, 16],
  fields: {
    ...stringFields("name", "generateName", "namespace", "selfLink", "uid", "resourceVersion"),
    generation: "integer",
    creationTimestamp: "time",
    deletionTimestamp: "time",
    deletionGracePeriodSeconds: "integer",
    labels: strings,
    annotations: strings,
    ownerReferences: { list: ownerReference },
    finalizers: { list: "string" },
    managedFields: { list: managedField },
  },
};

export const secretFields: Fields = {
  data: { map: "bytes" },
  type: "string",
  stringData: strings,
  immutable: "boolean",
};

export const configMapFields: Fields = {
  data: strings,
  binaryData: { map: "bytes" },
  immutable: "boolean",
};

const condition: Shape = {
  unused: [3],
  fields: {
    ...stringFields("type", "status"),
    lastTransitionTime: "time",
    ...stringFields("reason", "message"),
  },
};

export const namespaceFields: Fields = {
  spec: { fields: { finalizers: { list: "string" } } },
  status: { fields: { phase: "string", conditions: { list: condition } } },
};

export const referenceFields = stringFields(
  "kind",
  "namespace",
  "name",
  "uid",
  "apiVersion",
  "resourceVersion",
  "fieldPath",
);
const reference: Shape = { fields: referenceFields };

export const serviceAccountFields: Fields = {
  secrets: { list: reference },
  imagePullSecrets: { list: { fields: { name: "string" } } },
  automountServiceAccountToken: "boolean",
};

export const leaseFields: Fields = {
  spec: {
    fields: {
      holderIdentity: "string",
      leaseDurationSeconds: "integer",
      acquireTime: "microTime",
      renewTime: "microTime",
      leaseTransitions: "integer",
      ...stringFields("strategy", "preferredHolder"),
    },
  },
};

const eventSource: Shape = { fields: stringFields("component", "host") };
const series: Shape = { fields: { count: "integer", lastObservedTime: "microTime" } };

export const coreEventFields: Fields = {
  involvedObject: reference,
  ...stringFields("reason", "message"),
  source: eventSource,
  firstTimestamp: "time",
  lastTimestamp: "time",
  count: "integer",
  type: "string",
  eventTime: "microTime",
  series,
  action: "string",
  related: reference,
  ...stringFields("reportingComponent", "reportingInstance"),
};

export const newEventFields: Fields = {
  eventTime: "microTime",
  series,
  ...stringFields("reportingController", "reportingInstance", "action", "reason"),
  regarding: reference,
  related: reference,
  ...stringFields("note", "type"),
  deprecatedSource: eventSource,
  deprecatedFirstTimestamp: "time",
  deprecatedLastTimestamp: "time",
  deprecatedCount: "integer",
};
