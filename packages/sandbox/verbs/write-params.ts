// The parameters of all writes: dryRun, fieldManager, fieldValidation.
import { asText, isList } from "../storage/object.ts";
import type { JsonObject } from "../storage/object.ts";
import { causesOf, invalidValue, notSupported, refuseOptions, tooLong } from "../storage/status.ts";
import type { ObjectWrite } from "./create-update.ts";
import type { VerbCall } from "./call.ts";

export type Strictness = "Strict" | "Warn" | "Ignore";

type OptionsKind = "CreateOptions" | "UpdateOptions" | "PatchOptions" | "DeleteOptions";

/** `options`: the body of a DELETE, which may ask for a dry run as well. Throws a 422. */
export function writeOf(
  call: VerbCall,
  kind: OptionsKind,
  operation: ObjectWrite["operation"] = "Update",
  options: JsonObject = {},
): ObjectWrite {
  const { storage, target, request } = call;
  const { resource, namespace, subresource } = target;
  const asked = options["dryRun"];
  const dryRun = isList(asked) ? asked.map(asText) : request.query.getAll("dryRun");
  check(call, kind, dryRun, options);
  return {
    storage,
    resource,
    namespace,
    now: call.now(),
    dryRun: dryRun.length > 0,
    manager: request.query.get("fieldManager") || (request.userAgent.split("/")[0] ?? "unknown"),
    operation,
    ...(subresource === undefined || subresource === "scale" ? {} : { subresource }),
  };
}

/** Most bytes of a field manager (apimachinery, FieldManagerMaxLength). */
const managerBytes = 128;

const policies = ["Foreground", "Background", "Orphan"];

function check(
  call: VerbCall,
  kind: OptionsKind,
  dryRun: readonly string[],
  options: JsonObject,
): void {
  const { query } = call.request;
  const strictness = query.get("fieldValidation") ?? "";
  const inBody = options["propagationPolicy"];
  const policy = inBody === undefined ? (query.get("propagationPolicy") ?? "") : asText(inBody);
  const hasPolicy = kind === "DeleteOptions" && policy !== "";
  const twice = "orphanDependents and deletionPropagation cannot be both set";
  const causes = causesOf(
    Buffer.byteLength(query.get("fieldManager") ?? "") > managerBytes &&
      tooLong("fieldManager", managerBytes),
    dryRun.some((word) => word !== "All") && notSupported("dryRun", dryRun, ["All"]),
    !["", "Strict", "Warn", "Ignore"].includes(strictness) &&
      notSupported("fieldValidation", strictness, ["", "Ignore", "Strict", "Warn"]),
    hasPolicy &&
      !policies.includes(policy) &&
      notSupported("propagationPolicy", policy, [...policies, "nil"]),
    hasPolicy &&
      options["orphanDependents"] !== undefined &&
      invalidValue("propagationPolicy", policy, twice),
  );
  refuseOptions(kind, causes);
}

/** How to treat fields that the kind does not have. */
export function strictness(query: URLSearchParams): Strictness {
  const asked = query.get("fieldValidation");
  return asked === "Strict" || asked === "Ignore" ? asked : "Warn";
}
