// What is wrong with a start, a fault or a step that a test asks for, before anything happens: plain JavaScript has
// no compiler that says it. A mistyped field must not become a fault that never happens, or always.
import { validateHeaderName, validateHeaderValue } from "node:http";
import { inspect } from "node:util";
import type { Effect, Fault, SandboxStart, Verb } from "./contract.ts";

/** Timestamps of the API have a year of four digits. */
const LAST_TIME = Date.parse("9999-12-31T23:59:59Z");

const START_FIELDS = ["port", "time", "historyLimit"] as const satisfies (keyof SandboxStart)[];
const FAULT_FIELDS = [
  "verb",
  "resource",
  "namespace",
  "name",
  "nth",
  "times",
  "effect",
] as const satisfies (keyof Fault)[];
const EFFECT_FIELDS: Readonly<Record<Effect["kind"], readonly string[]>> = {
  status: ["code", "reason", "message", "retryAfter"],
  answer: ["code", "headers", "body"],
  reset: [],
  delay: ["ms"],
  cut: ["afterEvents"],
  expire: ["afterEvents"],
};
const VERBS: readonly string[] = [
  "get",
  "list",
  "watch",
  "create",
  "update",
  "patch",
  "delete",
  "deletecollection",
] satisfies Verb[];

/** Throws a RangeError that says what would be right. */
export function checkStart(options: SandboxStart): void {
  refuse("start", startProblem(options));
}

/** The names of a resource that is served. */
export type ResourceNames = { readonly plural: string; readonly singular: string };

/** Throws a RangeError for a fault that can never happen. */
export function checkFault(fault: Fault, served: readonly ResourceNames[]): void {
  refuse("fault", faultProblem(fault, served));
}

/** Throws a RangeError for a step that is not one. */
export function checkStep(now: number, ms: number): void {
  const isStep = typeof ms === "number" && ms >= 0 && now + ms <= LAST_TIME;
  refuse("step", isStep ? undefined : wanted("ms", ms, "0 or more, up to the year 9999"));
}

function refuse(what: string, problem: string | undefined): void {
  if (problem !== undefined) throw new RangeError(`invalid ${what}: ${problem}`);
}

const wanted = (field: string, value: unknown, want: string): string =>
  `${field} ${inspect(value, { depth: 0, breakLength: Number.POSITIVE_INFINITY })}: want ${want}`;

function startProblem(options: SandboxStart): string | undefined {
  if (!isRecord(options))
    return wanted("options", options, `an object with ${START_FIELDS.join(", ")}`);
  const unknown = unknownField(options, START_FIELDS);
  if (unknown !== undefined) return unknown;
  const { port = 0, time = 0, historyLimit = 1 } = options;
  if (!isCount(port, 0) || port > 65_535) return wanted("port", port, "0 to 65535");
  if (!isCount(time, 0) || time > LAST_TIME)
    return wanted("time", time, "milliseconds since 1970, as Date.parse answers");
  return isCount(historyLimit, 1) ? undefined : wanted("historyLimit", historyLimit, "1, 2, 3 …");
}

function faultProblem(fault: Fault, served: readonly ResourceNames[]): string | undefined {
  if (!isRecord(fault)) return wanted("fault", fault, "an object with an effect");
  return (
    unknownField(fault, FAULT_FIELDS) ??
    resourceProblem(fault.resource, served) ??
    matchProblem(fault) ??
    effectProblem(fault.effect) ??
    (isOfWatch(fault.effect) && (fault.verb ?? "watch") !== "watch"
      ? `"${fault.effect.kind}" happens to the verb watch, not to ${fault.verb}`
      : undefined)
  );
}

export const isOfWatch = ({ kind }: Effect): boolean => kind === "cut" || kind === "expire";

function matchProblem({ verb, namespace, name, nth = 1, times = 1 }: Fault): string | undefined {
  if (verb !== undefined && !VERBS.includes(verb)) return wanted("verb", verb, VERBS.join(", "));
  for (const [field, value] of Object.entries({ namespace, name }))
    if (value !== undefined && !isText(value)) return wanted(field, value, "a name");
  if (!isCount(nth, 1)) return wanted("nth", nth, "1, 2, 3 …");
  return times === Number.POSITIVE_INFINITY || isCount(times, 1)
    ? undefined
    : wanted("times", times, "1, 2, 3 … or Infinity");
}

/** A definition can add a resource later, so that one that is not served may be right. */
function resourceProblem(resource: unknown, served: readonly ResourceNames[]): string | undefined {
  if (resource === undefined) return undefined;
  if (typeof resource !== "string") return wanted("resource", resource, "text");
  const [given] = resource.toLowerCase().split(".");
  const meant = served.find(({ singular, plural }) => singular === given || plural === given);
  if (meant !== undefined && meant.plural !== resource)
    return wanted("resource", resource, meant.plural);
  return /^[a-z0-9-]+(\/[a-z]+)?$/.test(resource)
    ? undefined
    : wanted("resource", resource, "its plural, as in secrets or deployments/status");
}

function effectProblem(effect: Effect): string | undefined {
  const kinds = Object.keys(EFFECT_FIELDS);
  if (!isRecord(effect)) return wanted("effect", effect, `{ kind: ${kinds.join(", ")} }`);
  const { kind } = effect;
  if (!kinds.includes(kind)) return wanted("effect.kind", kind, kinds.join(", "));
  return unknownField(effect, ["kind", ...EFFECT_FIELDS[kind]]) ?? valueProblem(effect);
}

function valueProblem(effect: Effect): string | undefined {
  switch (effect.kind) {
    case "status":
    case "answer": {
      const { code } = effect;
      const least = effect.kind === "status" ? 400 : 200;
      if (!isCount(code, least) || code > 599) return wanted("code", code, `${least} to 599`);
      return effect.kind === "status" ? statusProblem(effect) : answerProblem(effect);
    }
    case "delay":
      return typeof effect.ms === "number" && effect.ms >= 0
        ? undefined
        : wanted("ms", effect.ms, "0 or more; Infinity never answers");
    case "cut":
    case "expire":
      return isCount(effect.afterEvents, 0)
        ? undefined
        : wanted("afterEvents", effect.afterEvents, "0, 1, 2 …");
    case "reset":
      return undefined;
  }
}

function statusProblem({ reason = "", message = "", retryAfter = 0 }: Status): string | undefined {
  for (const [field, value] of Object.entries({ reason, message }))
    if (typeof value !== "string") return wanted(field, value, "text");
  return isCount(retryAfter, 0) ? undefined : wanted("retryAfter", retryAfter, "whole seconds");
}

function answerProblem({ headers = {}, body = "" }: Answer): string | undefined {
  if (typeof body !== "string") return wanted("body", body, "text");
  try {
    for (const [name, value] of Object.entries(headers)) {
      validateHeaderName(name);
      validateHeaderValue(name, value);
    }
    return undefined;
  } catch (error) {
    return wanted(
      "headers",
      headers,
      `headers of HTTP: ${error instanceof Error ? error.message : ""}`,
    );
  }
}

type Status = Extract<Effect, { readonly kind: "status" }>;
type Answer = Extract<Effect, { readonly kind: "answer" }>;

function unknownField(given: object, known: readonly string[]): string | undefined {
  const [first] =
    Object.entries(given).find(([key, value]) => value !== undefined && !known.includes(key)) ?? [];
  return first === undefined ? undefined : `"${first}" is not known: want ${known.join(", ")}`;
}

const isRecord = (value: unknown): boolean =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const isText = (value: unknown): boolean => typeof value === "string" && value !== "";
const isCount = (value: unknown, least: number): value is number =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= least;
