// Events as the real server treats them. An Event belongs to the namespace of its object. Events of the new
// style (with eventTime, or through events.k8s.io) must name the reporter and the action.
import { isDeepStrictEqual } from "node:util";
import { asObject, asText } from "../storage/object.ts";
import type { StoredObject } from "../storage/object.ts";
import { causesOf, invalidValue, invalidValues, required } from "../storage/status.ts";
import type { StatusCause } from "../storage/status.ts";
import { qualifiedNameErrors } from "./metadata-validation.ts";
import { coreEventFields } from "./schema.ts";

/** `modern`: the request came through events.k8s.io/v1. Objects are in the stored (core) form. */
export function eventCauses(
  event: StoredObject,
  before: StoredObject | undefined,
  modern: boolean,
): StatusCause[] {
  return causesOf(
    event["eventTime"] === undefined ? oldStyle(event) : newStyle(event, modern),
    modern && (before ? modernUpdate(event, before) : modernOnly(event)),
  );
}

function modernUpdate(event: StoredObject, before: StoredObject): StatusCause[] {
  const isSame = (field: string) => isDeepStrictEqual(event[field], before[field]);
  // An update may change the series alone.
  const frozen = Object.keys(coreEventFields).filter((field) => field !== "series");
  return causesOf(
    !isSame("series") && seriesCauses(event),
    frozen
      .filter((field) => !isSame(field))
      .map((field) => {
        const shown = field === "reportingComponent" ? "reportingController" : field;
        return invalidValue(shown, event[field], "field is immutable");
      }),
  );
}

function seriesCauses(event: StoredObject): StatusCause[] {
  if (event["series"] === undefined) return [];
  const { count, lastObservedTime } = asObject(event["series"]);
  return causesOf(
    Number(count ?? 0) < 2 && invalidValue("series.count", "", "should be at least 2"),
    lastObservedTime === undefined && required("series.lastObservedTime"),
  );
}

/** The namespaces of an Event and of its object. */
function namespacesOf({ metadata, involvedObject }: StoredObject): readonly [string, string] {
  return [metadata.namespace ?? "", asText(asObject(involvedObject)["namespace"])];
}

const elsewhere = (about: string): StatusCause =>
  invalidValue("involvedObject.namespace", about, "does not match event.namespace");

function oldStyle(event: StoredObject): StatusCause[] {
  const [own, about] = namespacesOf(event);
  return own === (about || "default") ? [] : [elsewhere(about)];
}

function newStyle(event: StoredObject, modern: boolean): StatusCause[] {
  const [own, about] = namespacesOf(event);
  const reporter = modern ? "reportingController" : "reportingComponent";
  const controller = asText(event["reportingComponent"]);
  return causesOf(
    about === "" && own !== "default" && own !== "kube-system" && elsewhere(about),
    controller === "" && required(reporter),
    invalidValues(reporter, controller, qualifiedNameErrors(controller)),
    textCauses(event, "reportingInstance", 128, true),
    textCauses(event, "action", 128, true),
    textCauses(event, "reason", 128, true),
    textCauses(event, "message", 1024, false),
  );
}

function textCauses(
  event: StoredObject,
  field: string,
  most: number,
  needed: boolean,
): StatusCause[] {
  const length = Buffer.byteLength(asText(event[field]));
  return causesOf(
    needed && length === 0 && required(field),
    length > most && invalidValue(field, "", `can have at most ${most} characters`),
  );
}

function modernOnly(event: StoredObject): StatusCause[] {
  const type = asText(event["type"]);
  const source = asObject(event["source"]);
  const unset = ["firstTimestamp", "lastTimestamp", "count"].filter(
    (field) => event[field] !== undefined && event[field] !== 0,
  );
  if (asText(source["component"]) + asText(source["host"]) !== "") unset.push("source");
  return causesOf(
    seriesCauses(event),
    event["eventTime"] === undefined && required("eventTime"),
    type !== "Normal" &&
      type !== "Warning" &&
      invalidValue("type", "", `has invalid value: ${type}`),
    unset.map((field) => invalidValue(field, "", "needs to be unset")),
  );
}
