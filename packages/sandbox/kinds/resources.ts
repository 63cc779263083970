// The resources that the sandbox serves, one row each. `storage` names the collection of the objects.
// Events are one collection under two groups, stored in the core form and converted when served.
import type { PrinterColumn } from "./printer-columns.ts";
import type { JsonObject, StoredObject } from "../storage/object.ts";
import {
  configMapFields,
  coreEventFields,
  leaseFields,
  namespaceFields,
  newEventFields,
  referenceFields,
  secretFields,
  serviceAccountFields,
} from "./schema.ts";
import type { Fields } from "./schema.ts";

/** The fields behind the subresource scale of a custom resource, as paths into the object. */
export type ScalePaths = {
  readonly replicas: readonly string[];
  readonly status: readonly string[];
  readonly selector: readonly string[] | undefined;
};

export type ServedResource = {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly singular: string;
  readonly kind: string;
  readonly shortNames: readonly string[];
  readonly namespaced: boolean;
  readonly storage: string;
  readonly fields: Fields;
  /** Field selectors beside metadata.name and metadata.namespace: label → path in the stored object. */
  readonly fieldLabels: Readonly<Record<string, string>>;
  /** A PUT to an unused name creates the object. */
  readonly createOnUpdate: boolean;
  /** A PUT without resourceVersion overwrites. */
  readonly unconditionalUpdate: boolean;
  /** Fields that are served even when they are not set. */
  readonly always?: JsonObject;
  /** The status is written under /status alone. */
  readonly statusSubresource?: boolean;
  readonly scale?: ScalePaths;
  /** Schema of a custom resource, for its defaults. */
  readonly schema?: JsonObject;
  /** Groups of kinds that kubectl takes for a type: `get all`. */
  readonly categories?: readonly string[];
  /** Columns of a custom resource, in place of its age. */
  readonly printerColumns?: readonly PrinterColumn[];
  /** The apiVersion of the stored form, where that is not v1. */
  readonly storedVersion?: string;
  /** Field names here that differ from the stored form: served name → stored name. */
  readonly renamed?: Readonly<Record<string, string>>;
};

/** A row with what most kinds have: names that follow from the kind, in the core group, in a namespace. */
export function resource(
  row: Partial<ServedResource> & Pick<ServedResource, "kind" | "fields">,
): ServedResource {
  const singular = row.kind.toLowerCase();
  const plural = row.plural ?? `${singular}s`;
  return {
    group: "",
    version: "v1",
    plural,
    singular,
    shortNames: [],
    namespaced: true,
    storage: plural,
    fieldLabels: {},
    createOnUpdate: false,
    unconditionalUpdate: true,
    ...row,
  };
}

const reference = Object.keys(referenceFields);

export function paths(
  labels: readonly string[],
  path = (label: string) => label,
): Record<string, string> {
  return Object.fromEntries(labels.map((label) => [label, path(label)]));
}

export const namespaces = resource({
  kind: "Namespace",
  shortNames: ["ns"],
  namespaced: false,
  fields: namespaceFields,
  fieldLabels: paths(["status.phase"]),
});

const coreEvents = resource({
  kind: "Event",
  shortNames: ["ev"],
  fields: coreEventFields,
  createOnUpdate: true,
  fieldLabels: {
    ...paths(reference.map((field) => `involvedObject.${field}`)),
    ...paths(["reason", "reportingComponent", "type"]),
    source: "source.component",
  },
  always: {
    eventTime: null,
    firstTimestamp: null,
    lastTimestamp: null,
    source: {},
    reportingComponent: "",
    reportingInstance: "",
  },
});

const newEvents: ServedResource = {
  ...coreEvents,
  group: "events.k8s.io",
  fields: newEventFields,
  fieldLabels: {
    ...paths(
      reference.map((field) => `regarding.${field}`),
      (label) => label.replace("regarding.", "involvedObject."),
    ),
    ...paths(["reason", "type"]),
    reportingController: "reportingComponent",
  },
  always: {
    eventTime: null,
    deprecatedFirstTimestamp: null,
    deprecatedLastTimestamp: null,
    deprecatedSource: {},
  },
  renamed: {
    regarding: "involvedObject",
    note: "message",
    deprecatedSource: "source",
    deprecatedFirstTimestamp: "firstTimestamp",
    deprecatedLastTimestamp: "lastTimestamp",
    deprecatedCount: "count",
    reportingController: "reportingComponent",
  },
};

export const resources: readonly ServedResource[] = [
  resource({ kind: "ConfigMap", shortNames: ["cm"], fields: configMapFields }),
  coreEvents,
  namespaces,
  resource({ kind: "Secret", fields: secretFields, fieldLabels: paths(["type"]) }),
  resource({ kind: "ServiceAccount", shortNames: ["sa"], fields: serviceAccountFields }),
  resource({
    group: "coordination.k8s.io",
    kind: "Lease",
    fields: leaseFields,
    createOnUpdate: true,
    unconditionalUpdate: false,
  }),
  newEvents,
];

export function groupVersion(resource: ServedResource): string {
  return resource.group === "" ? resource.version : `${resource.group}/${resource.version}`;
}

export function findResource(
  rows: readonly ServedResource[],
  group: string,
  version: string,
  plural: string,
): ServedResource | undefined {
  return rows.find(
    (row) => row.group === group && row.version === version && row.plural === plural,
  );
}

/** A decoded object in the form in which it is stored. */
export function toStored(resource: ServedResource, object: StoredObject): StoredObject {
  return resource.renamed
    ? rename(object, resource.storedVersion ?? "v1", resource.renamed)
    : object;
}

/** A stored object in the form of the resource it is asked through. */
export function fromStored(resource: ServedResource, object: StoredObject): StoredObject {
  if (!resource.renamed) return object;
  const back = Object.entries(resource.renamed).map(([here, stored]) => [stored, here] as const);
  return rename(object, groupVersion(resource), Object.fromEntries(back));
}

function rename(
  object: StoredObject,
  apiVersion: string,
  names: Readonly<Record<string, string>>,
): StoredObject {
  const { metadata, kind, ...rest } = object;
  const renamed = Object.entries(rest).map(([field, value]) => [names[field] ?? field, value]);
  return { ...Object.fromEntries(renamed), kind, metadata, apiVersion };
}
