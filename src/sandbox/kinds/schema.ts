// The fields of an object with their types, as far as strict decoding and field merging need them. A shape
// is deliberately shallow where the sandbox stores a field unchanged ("any").

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
  | { readonly fields: Fields };

export type Fields = { readonly [field: string]: Shape };

const strings: Shape = { map: "string" };

const ownerReference: Shape = {
  fields: {
    apiVersion: "string",
    kind: "string",
    name: "string",
    uid: "string",
    controller: "boolean",
    blockOwnerDeletion: "boolean",
  },
};

const managedField: Shape = {
  fields: {
    manager: "string",
    operation: "string",
    apiVersion: "string",
    time: "time",
    fieldsType: "string",
    fieldsV1: "any",
    subresource: "string",
  },
};

export const metadataShape: Shape = {
  fields: {
    name: "string",
    generateName: "string",
    namespace: "string",
    selfLink: "string",
    uid: "string",
    resourceVersion: "string",
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
  type: "string",
  data: { map: "bytes" },
  stringData: strings,
  immutable: "boolean",
};

export const configMapFields: Fields = {
  data: strings,
  binaryData: { map: "bytes" },
  immutable: "boolean",
};

const condition: Shape = {
  fields: {
    type: "string",
    status: "string",
    lastTransitionTime: "time",
    reason: "string",
    message: "string",
  },
};

export const namespaceFields: Fields = {
  spec: { fields: { finalizers: { list: "string" } } },
  status: { fields: { phase: "string", conditions: { list: condition } } },
};

const reference: Shape = {
  fields: {
    kind: "string",
    namespace: "string",
    name: "string",
    uid: "string",
    apiVersion: "string",
    resourceVersion: "string",
    fieldPath: "string",
  },
};

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
      strategy: "string",
      preferredHolder: "string",
    },
  },
};

const eventSource: Shape = { fields: { component: "string", host: "string" } };
const series: Shape = { fields: { count: "integer", lastObservedTime: "microTime" } };

const eventBase: Fields = {
  reason: "string",
  type: "string",
  eventTime: "microTime",
  series,
  action: "string",
  related: reference,
  reportingInstance: "string",
};

export const coreEventFields: Fields = {
  ...eventBase,
  involvedObject: reference,
  message: "string",
  source: eventSource,
  firstTimestamp: "time",
  lastTimestamp: "time",
  count: "integer",
  reportingComponent: "string",
};

export const newEventFields: Fields = {
  ...eventBase,
  regarding: reference,
  note: "string",
  deprecatedSource: eventSource,
  deprecatedFirstTimestamp: "time",
  deprecatedLastTimestamp: "time",
  deprecatedCount: "integer",
  reportingController: "string",
};
