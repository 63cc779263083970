// Events as the real server treats them. An Event belongs to the namespace of its object. Events of the new
// style (with eventTime, or through events.k8s.io) must name the reporter and the action.
import { isDeepStrictEqual } from "node:util";
import { asObject, asText } from "../storage/object.ts";
import type { StoredObject } from "../storage/object.ts";
import { invalidValue, required } from "../storage/status.ts";
import type { StatusCause } from "../storage/status.ts";
import { qualifiedNameErrors } from "./metadata-validation.ts";

const elsewhere = "does not match event.namespace";

/** `modern`: the request came through events.k8s.io/v1. Objects are in the stored (core) form. */
export function eventCauses(
  event: StoredObject,
  before: StoredObject | undefined,
  modern: boolean,
): StatusCause[] {
  const causes = event["eventTime"] === undefined ? oldStyle(event) : newStyle(event, modern);
  if (!modern) return causes;
  return [...causes, ...(before ? modernUpdate(event, before) : modernOnly(event))];
}

/** All fields except the series, which an update may change. */
const frozen = [
  "involvedObject",
  "reason",
  "message",
  "source",
  "firstTimestamp",
  "lastTimestamp",
  "count",
  "type",
  "eventTime",
  "action",
  "related",
  "reportingComponent",
  "reportingInstance",
];

function modernUpdate(event: StoredObject, before: StoredObject): StatusCause[] {
  const changed = frozen.filter((field) => !isDeepStrictEqual(event[field], before[field]));
  return [
    ...(isDeepStrictEqual(event["series"], before["series"]) ? [] : seriesCauses(event)),
    ...changed.map((field) => {
      const shown = field === "reportingComponent" ? "reportingController" : field;
      return invalidValue(shown, event[field], "field is immutable");
    }),
  ];
}

function seriesCauses(event: StoredObject): StatusCause[] {
  if (event["series"] === undefined) return [];
  const series = asObject(event["series"]);
  return [
    ...(Number(series["count"] ?? 0) < 2
      ? [invalidValue("series.count", "", "should be at least 2")]
      : []),
    ...(series["lastObservedTime"] === undefined ? [required("series.lastObservedTime")] : []),
  ];
}

function oldStyle(event: StoredObject): StatusCause[] {
  const about = asText(asObject(event["involvedObject"])["namespace"]);
  const own = event.metadata.namespace ?? "";
  const fits = about === "" ? own === "default" : about === own;
  return fits ? [] : [invalidValue("involvedObject.namespace", about, elsewhere)];
}

function newStyle(event: StoredObject, modern: boolean): StatusCause[] {
  const about = asText(asObject(event["involvedObject"])["namespace"]);
  const own = event.metadata.namespace ?? "";
  const reporter = modern ? "reportingController" : "reportingComponent";
  const controller = asText(event["reportingComponent"]);
  return [
    ...(about === "" && own !== "default" && own !== "kube-system"
      ? [invalidValue("involvedObject.namespace", about, elsewhere)]
      : []),
    ...(controller === "" ? [required(reporter)] : []),
    ...qualifiedNameErrors(controller).map((why) => invalidValue(reporter, controller, why)),
    ...text(event, "reportingInstance", 128, true),
    ...text(event, "action", 128, true),
    ...text(event, "reason", 128, true),
    ...text(event, "message", 1024, false),
  ];
}

function text(event: StoredObject, field: string, most: number, needed: boolean): StatusCause[] {
  const length = Buffer.byteLength(asText(event[field]));
  return [
    ...(needed && length === 0 ? [required(field)] : []),
    ...(length > most ? [invalidValue(field, "", `can have at most ${most} characters`)] : []),
  ];
}

function modernOnly(event: StoredObject): StatusCause[] {
  const type = asText(event["type"]);
  const source = asObject(event["source"]);
  const unset = (["firstTimestamp", "lastTimestamp", "count"] as const).filter(
    (field) => event[field] !== undefined && event[field] !== 0,
  );
  return [
    ...seriesCauses(event),
    ...(event["eventTime"] === undefined ? [required("eventTime")] : []),
    ...(type === "Normal" || type === "Warning"
      ? []
      : [invalidValue("type", "", `has invalid value: ${type}`)]),
    ...unset.map((field) => invalidValue(field, "", "needs to be unset")),
    ...(asText(source["component"]) + asText(source["host"]) === ""
      ? []
      : [invalidValue("source", "", "needs to be unset")]),
  ];
}
