// The real server's behaviour for single kinds, one row each: defaults before an object is stored, the rule
// for names, and the rules that decide whether it may be stored.
import { isDeepStrictEqual } from "node:util";
import { eventCauses } from "./events.ts";
import { asObject, asStringMap } from "../storage/object.ts";
import type { JsonObject, StoredObject } from "../storage/object.ts";
import type { ServedResource } from "./resources.ts";
import {
  definitionFault,
  definitions,
  establish,
  shallowKinds,
  withDefaults,
} from "./shallow-kinds.ts";
import { immutableCauses, prepareSecret, secretCauses, secretUpdateCauses } from "./secrets.ts";
import { invalidValue, tooLong } from "../storage/status.ts";
import type { StatusCause } from "../storage/status.ts";
import {
  dataKeyErrors,
  labelErrors,
  pathSegmentErrors,
  subdomainErrors,
} from "./metadata-validation.ts";
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
    const { metadata } = object;
    return {
      ...object,
      metadata: {
        ...metadata,
        ...(metadata.name === ""
          ? {}
          : { labels: { ...metadata.labels, [nameLabel]: metadata.name } }),
      },
      // Finalizers and phase have subresources of their own.
      spec: before?.["spec"] ?? { finalizers: ["kubernetes"] },
      status: before?.["status"] ?? { phase: "Active" },
    };
  },
};

const leaseRules: Rules = {
  ...plain,
  causes(object) {
    const spec = asObject(object["spec"]);
    const seconds = spec["leaseDurationSeconds"];
    const changes = spec["leaseTransitions"];
    return [
      ...(typeof seconds === "number" && seconds <= 0
        ? [invalidValue("spec.leaseDurationSeconds", seconds, "must be greater than 0")]
        : []),
      ...(typeof changes === "number" && changes < 0
        ? [invalidValue("spec.leaseTransitions", changes, "must be greater than or equal to 0")]
        : []),
    ];
  },
};

const configMapRules: Rules = {
  ...plain,
  causes(object, before) {
    const text = asStringMap(object["data"]);
    const binary = asStringMap(object["binaryData"]);
    let bytes = 0;
    for (const value of Object.values(text)) bytes += Buffer.byteLength(value);
    for (const value of Object.values(binary)) bytes += Buffer.byteLength(value, "base64");
    const keys = [...Object.keys(text), ...Object.keys(binary)];
    return [
      ...(before ? immutableCauses(object, before, ["data", "binaryData"]) : []),
      ...Object.keys(text)
        .filter((key) => Object.hasOwn(binary, key))
        .map((key) => invalidValue(`data[${key}]`, key, "duplicate of key present in binaryData")),
      ...keys.flatMap((key) =>
        dataKeyErrors(key).map((why) => invalidValue(`data[${key}]`, key, why)),
      ),
      ...(bytes > 1024 * 1024 ? [tooLong("[]", 1024 * 1024)] : []),
    ];
  },
};

const byStorage: Readonly<Record<string, Rules>> = {
  namespaces: namespaceRules,
  secrets: {
    ...plain,
    prepare: prepareSecret,
    causes: (object, before) => [
      ...(before ? secretUpdateCauses(object, before) : []),
      ...secretCauses(object),
    ],
  },
  leases: leaseRules,
  configmaps: configMapRules,
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
