// The real server's behaviour for single kinds, one row each: defaults before an object is stored, the rule
// for names, and the rules that decide whether it may be stored.
import { isDeepStrictEqual } from "node:util";
import { eventCauses } from "./events.ts";
import { asObject } from "../storage/object.ts";
import type { JsonObject, StoredObject } from "../storage/object.ts";
import type { ServedResource } from "./resources.ts";
import {
  definitionFault,
  definitions,
  establish,
  shallowKinds,
  withDefaults,
} from "./shallow-kinds.ts";
import { configMapCauses, prepareSecret, secretCauses } from "./secrets.ts";
import { causesOf, invalidValue } from "../storage/status.ts";
import type { StatusCause } from "../storage/status.ts";
import { labelErrors, pathSegmentErrors, subdomainErrors } from "./metadata-validation.ts";
import type { NameRule } from "./metadata-validation.ts";

export type Rules = {
  readonly name: NameRule;
  readonly prepare: (object: StoredObject, before: StoredObject | undefined) => StoredObject;
  readonly causes: (
    object: StoredObject,
    before: StoredObject | undefined,
    group: string,
  ) => StatusCause[];
};

const plain: Rules = {
  name: subdomainErrors,
  prepare: (object) => object,
  causes: () => [],
};

/** The label by which selectors find one namespace. It cannot be removed. */
const nameLabel = "kubernetes.io/metadata.name";

const namespaceRules: Rules = {
  ...plain,
  name: labelErrors,
  prepare(object, before) {
    const { name, labels } = object.metadata;
    const metadata =
      name === ""
        ? object.metadata
        : { ...object.metadata, labels: { ...labels, [nameLabel]: name } };
    return {
      ...object,
      metadata,
      // Finalizers and phase have subresources of their own.
      spec: before?.["spec"] ?? { finalizers: ["kubernetes"] },
      status: before?.["status"] ?? { phase: "Active" },
    };
  },
};

function leaseCauses(lease: StoredObject): StatusCause[] {
  const spec = asObject(lease["spec"]);
  const isBelow = (field: string, least: number) => Number(spec[field] ?? least) < least;
  const seconds = "leaseDurationSeconds";
  const changes = "leaseTransitions";
  return causesOf(
    isBelow(seconds, 1) && invalidValue(`spec.${seconds}`, spec[seconds], "must be greater than 0"),
    isBelow(changes, 0) &&
      invalidValue(`spec.${changes}`, spec[changes], "must be greater than or equal to 0"),
  );
}

const byStorage: Readonly<Record<string, Rules>> = {
  namespaces: namespaceRules,
  secrets: { ...plain, prepare: prepareSecret, causes: secretCauses },
  leases: { ...plain, causes: leaseCauses },
  configmaps: { ...plain, causes: configMapCauses },
  events: {
    ...plain,
    name: pathSegmentErrors,
    causes: (object, before, group) => eventCauses(object, before, group === "events.k8s.io"),
  },
};

export function rulesFor(resource: ServedResource): Rules {
  if (resource === definitions || resource.schema || shallowKinds.includes(resource))
    return shallowRules(resource);
  return byStorage[resource.storage] ?? plain;
}

/**
 * The server sets status and generation. These rules also validate definitions and set a schema's defaults.
 */
function shallowRules(resource: ServedResource): Rules {
  const { schema = {}, statusSubresource = false } = resource;
  return {
    ...plain,
    prepare(given, before) {
      const { status: written, ...draft } = given;
      const object = withDefaults(draft, schema) as StoredObject;
      const changed = !isDeepStrictEqual(object["spec"], before?.["spec"]);
      const generation = (before?.metadata.generation ?? 0) + Number(changed);
      const status = !statusSubresource
        ? written
        : before
          ? before["status"]
          : FIRST[resource.kind];
      const whole = {
        ...object,
        ...(status !== undefined && { status }),
        metadata: { ...object.metadata, generation },
      };
      return resource === definitions ? establish(whole) : whole;
    },
    causes(object) {
      const fault = resource === definitions ? definitionFault(object) : undefined;
      return fault ? [invalidValue(fault[0], object.metadata.name, fault[1])] : [];
    },
  };
}

const FIRST: Readonly<Record<string, JsonObject>> = { Pod: { phase: "Pending" }, Deployment: {} };
