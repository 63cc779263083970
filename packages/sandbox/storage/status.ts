// Errors as the real API server words them. An ApiError contains the whole Status object for the client.
// Every refusal of the sandbox is created here, so each message exists once.
import type { Json, JsonObject } from "./object.ts";

export type Named = { readonly group: string; readonly plural: string; readonly kind: string };

export type StatusCause = {
  readonly reason: string;
  readonly message: string;
  readonly field: string;
};

export class StatusError extends Error {
  override readonly name = "ApiError";
  readonly code: number;
  readonly status: JsonObject;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    code: number,
    reason: string,
    message: string,
    details?: JsonObject,
    metadata: JsonObject = {},
  ) {
    super(message);
    this.code = code;
    this.status = {
      kind: "Status",
      apiVersion: "v1",
      metadata,
      status: "Failure",
      message,
      ...(reason === "" ? {} : { reason }),
      ...(details === undefined ? {} : { details }),
      code,
    };
    const after = details?.["retryAfterSeconds"];
    this.headers = typeof after === "number" ? { "retry-after": String(after) } : {};
  }
}

/** `secrets`, or with a group `leases.coordination.k8s.io`. */
function groupResource(resource: Named): string {
  return resource.group === "" ? resource.plural : `${resource.plural}.${resource.group}`;
}

function details(resource: Named, name: string, kind = resource.plural): JsonObject {
  return {
    ...(name === "" ? {} : { name }),
    ...(resource.group === "" ? {} : { group: resource.group }),
    kind,
  };
}

/** A text as Go's %q prints it. */
export function quoted(text: string): string {
  return JSON.stringify(text);
}

export function notFound(resource: Named, name: string): StatusError {
  const message = `${groupResource(resource)} ${quoted(name)} not found`;
  return new StatusError(404, "NotFound", message, details(resource, name));
}

/** No such path: the answer that has no object to name. */
export function noSuchPath(): StatusError {
  return new StatusError(404, "NotFound", "the server could not find the requested resource", {});
}

/** `going`: the existing object is being deleted. */
export function alreadyExists(resource: Named, name: string, going: boolean): StatusError {
  const taken = `${groupResource(resource)} ${quoted(name)} already exists`;
  const message = going ? `object is being deleted: ${taken}` : taken;
  return new StatusError(409, "AlreadyExists", message, details(resource, name));
}

export function conflict(resource: Named, name: string, why: string): StatusError {
  const message = `Operation cannot be fulfilled on ${groupResource(resource)} ${quoted(name)}: ${why}`;
  return new StatusError(409, "Conflict", message, details(resource, name));
}

/** The precondition of a DELETE does not hold. The real server names the kind here, not the resource. */
export function preconditionFailed(resource: Named, name: string, why: string): StatusError {
  return conflict({ ...resource, plural: resource.kind }, name, why);
}

export const staleVersion =
  "the object has been modified; please apply your changes to the latest version and try again";

export function forbidden(
  resource: Named,
  name: string,
  why: string,
  causes: readonly StatusCause[] = [],
): StatusError {
  const message = `${groupResource(resource)} ${quoted(name)} is forbidden: ${why}`;
  return new StatusError(403, "Forbidden", message, {
    ...details(resource, name),
    ...(causes.length > 0 ? { causes } : {}),
  });
}

export function invalidObject(
  resource: { readonly group: string; readonly kind: string },
  name: string,
  causes: readonly StatusCause[],
): StatusError {
  // The real server omits repeated causes.
  const said = [...new Set(causes.map((cause) => `${cause.field}: ${cause.message}`))];
  const all = said.length === 1 ? said.join("") : `[${said.join(", ")}]`;
  const kind = resource.group === "" ? resource.kind : `${resource.kind}.${resource.group}`;
  return new StatusError(422, "Invalid", `${kind} ${quoted(name)} is invalid: ${all}`, {
    ...(name === "" ? {} : { name }),
    ...(resource.group === "" ? {} : { group: resource.group }),
    ...(resource.kind === "" ? {} : { kind: resource.kind }),
    causes,
  });
}

/** Throws the 422 for parameters or options of `kind` if anything is wrong with them. */
export function refuseOptions(kind: string, causes: readonly StatusCause[]): void {
  if (causes.length > 0) throw invalidObject({ group: "meta.k8s.io", kind }, "", causes);
}

export function badRequest(message: string): StatusError {
  return new StatusError(400, "BadRequest", message);
}

export function expired(message: string, continueToken?: string): StatusError {
  const metadata = continueToken === undefined ? {} : { continue: continueToken };
  return new StatusError(410, "Expired", message, undefined, metadata);
}

export function tooLargeVersion(asked: number, current: number): StatusError {
  const message = `Timeout: Too large resource version: ${asked}, current: ${current}`;
  return new StatusError(504, "Timeout", message, {
    causes: [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }],
    retryAfterSeconds: 1,
  });
}

export function methodNotAllowed(): StatusError {
  return new StatusError(
    405,
    "MethodNotAllowed",
    "the server does not allow this method on the requested resource",
    {},
  );
}

export function notAcceptable(accepted: string): StatusError {
  return new StatusError(
    406,
    "NotAcceptable",
    `406: Not Acceptable\n\nAvailable representations: ${accepted}`,
    {},
  );
}

export function unsupportedMedia(accepted: string): StatusError {
  return new StatusError(
    415,
    "UnsupportedMediaType",
    `the body of the request was in an unknown format - accepted media types include: ${accepted}`,
  );
}

/** A PATCH of an unknown type. It is refused before the resource is read. */
export function unsupportedPatch(): StatusError {
  return new StatusError(415, "UnsupportedMediaType", "415: Unsupported Media Type", {});
}

/** A custom resource has no strategic merge patch. */
export function noStrategicPatch(): StatusError {
  const message =
    "the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml";
  return new StatusError(415, "UnsupportedMediaType", message);
}

/** An error without a reason of its own, e.g. a resourceVersion on an object to be created. */
export function unexplained(message: string): StatusError {
  return new StatusError(500, "", message);
}

export function internal(why: string): StatusError {
  const causes = [{ message: why }];
  return new StatusError(500, "InternalError", `Internal error occurred: ${why}`, { causes });
}

export function tooLargeBody(most: number): StatusError {
  const message = `Request entity too large: limit is ${most}`;
  return new StatusError(413, "RequestEntityTooLarge", message, undefined);
}

/** A JSON patch that does not apply: the real server does not say why. */
export function unprocessable(): StatusError {
  const message = "the server rejected our request due to an error in our request";
  return new StatusError(422, "Invalid", message, {});
}

// The causes of a 422, one function for each type of field error.

export function invalidValue(field: string, value: Json | undefined, why: string): StatusCause {
  const shown = value === undefined ? "" : `: ${JSON.stringify(value)}`;
  return { reason: "FieldValueInvalid", message: `Invalid value${shown}: ${why}`, field };
}

/** A cause for each rule that `value` breaks. */
export function invalidValues(
  field: string,
  value: string,
  broken: readonly string[],
): StatusCause[] {
  return broken.map((why) => invalidValue(field, value, why));
}

/** The causes that there are: a condition that does not hold is false. */
export function causesOf(
  ...found: readonly (StatusCause | readonly StatusCause[] | false)[]
): StatusCause[] {
  return found.flatMap((each) => each || []);
}

export function required(field: string, why = ""): StatusCause {
  const message = why === "" ? "Required value" : `Required value: ${why}`;
  return { reason: "FieldValueRequired", message, field };
}

export function forbiddenField(field: string, why: string): StatusCause {
  return { reason: "FieldValueForbidden", message: `Forbidden: ${why}`, field };
}

export function tooLong(field: string, most: number): StatusCause {
  const message = `Too long: may not be more than ${most} bytes`;
  return { reason: "FieldValueTooLong", message, field };
}

export function notSupported(
  field: string,
  value: string | readonly string[],
  supported: readonly string[],
): StatusCause {
  const all = supported.map((word) => quoted(word)).join(", ");
  const message = `Unsupported value: ${JSON.stringify(value)}: supported values: ${all}`;
  return { reason: "FieldValueNotSupported", message, field };
}
