// What is wrong with a start, a fault or a step that a test asks for, before anything happens: plain JavaScript has
// no compiler that says it. A mistyped field must not become a fault that never happens, or always.
import { validateHeaderName, validateHeaderValue } from "node:http";
import { inspect } from "node:util";
import type { Effect, Fault, SandboxStart, Verb } from "./contract.ts";

/** Timestamps of the API have a year of four digits. */
const LAST_TIME = Date.parse("9999-12-31T23:59:59Z");

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

/** What a field may be, where its value is not; undefined where it is right. */
type Check = (value: unknown) => string | undefined;
type Checks<Field extends string> = Readonly<Record<Field, Check>>;

const either =
  (want: string, holds: (value: unknown) => boolean): Check =>
  (value) =>
    holds(value) ? undefined : want;
const optional =
  (check: Check): Check =>
  (value) =>
    value === undefined ? undefined : check(value);
const count = (want: string, least: number, most = Number.MAX_SAFE_INTEGER): Check =>
  either(
    want,
    (value) => Number.isSafeInteger(value) && Number(value) >= least && Number(value) <= most,
  );
const text = optional(either("text", (value) => typeof value === "string"));
const nameText = optional(either("a name", (value) => typeof value === "string" && value !== ""));
const once = count("1, 2, 3 … or Infinity", 1);

const START: Checks<keyof SandboxStart> = {
  port: optional(count("0 to 65535", 0, 65_535)),
  time: optional(count("milliseconds since 1970, as Date.parse answers", 0, LAST_TIME)),
  historyLimit: optional(count("1, 2, 3 …", 1)),
};

const EFFECTS: Readonly<Record<Effect["kind"], Checks<string>>> = {
  status: {
    code: count("400 to 599", 400, 599),
    reason: text,
    message: text,
    retryAfter: optional(count("whole seconds", 0)),
  },
  answer: { code: count("200 to 599", 200, 599), headers: optional(headersWanted), body: text },
  reset: {},
  delay: {
    ms: either("0 or more; Infinity never answers", (ms) => typeof ms === "number" && ms >= 0),
  },
  cut: { afterEvents: count("0, 1, 2 …", 0) },
  expire: { afterEvents: count("0, 1, 2 …", 0) },
};

const faultChecks = (served: readonly ResourceNames[]): Checks<keyof Fault> => ({
  verb: optional(
    either(VERBS.join(", "), (verb) => typeof verb === "string" && VERBS.includes(verb)),
  ),
  resource: optional((resource) => resourceWanted(resource, served)),
  namespace: nameText,
  name: nameText,
  nth: optional(count("1, 2, 3 …", 1)),
  times: optional((times) => (times === Number.POSITIVE_INFINITY ? undefined : once(times))),
  effect: () => undefined,
});

/** Throws a RangeError that says what would be right. */
export function checkStart(options: SandboxStart): void {
  const want = `an object with ${Object.keys(START).join(", ")}`;
  refuse("start", isRecord(options) ? problemIn(options, START) : wanted("options", options, want));
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

/** The first field that is unknown, or else the first that is wrong. */
function problemIn(given: object, checks: Checks<string>): string | undefined {
  const values = new Map(Object.entries(given));
  for (const [field, value] of values)
    if (value !== undefined && !Object.hasOwn(checks, field))
      return `"${field}" is not known: want ${Object.keys(checks).join(", ")}`;
  for (const [field, check] of Object.entries(checks)) {
    const want = check(values.get(field));
    if (want !== undefined) return wanted(field, values.get(field), want);
  }
  return undefined;
}

function faultProblem(fault: Fault, served: readonly ResourceNames[]): string | undefined {
  if (!isRecord(fault)) return wanted("fault", fault, "an object with an effect");
  return (
    problemIn(fault, faultChecks(served)) ??
    effectProblem(fault.effect) ??
    (isOfWatch(fault.effect) && (fault.verb ?? "watch") !== "watch"
      ? `"${fault.effect.kind}" happens to the verb watch, not to ${fault.verb}`
      : undefined)
  );
}

export const isOfWatch = ({ kind }: Effect): boolean => kind === "cut" || kind === "expire";

/** A definition can add a resource later, so that one that is not served may be right. */
function resourceWanted(resource: unknown, served: readonly ResourceNames[]): string | undefined {
  if (typeof resource !== "string") return "text";
  const [given] = resource.toLowerCase().split(".");
  const meant = served.find(({ singular, plural }) => singular === given || plural === given);
  if (meant !== undefined && meant.plural !== resource) return meant.plural;
  return /^[a-z0-9-]+(\/[a-z]+)?$/.test(resource)
    ? undefined
    : "its plural, as in secrets or deployments/status";
}

function effectProblem(effect: Effect): string | undefined {
  const kinds = Object.keys(EFFECTS);
  if (!isRecord(effect)) return wanted("effect", effect, `{ kind: ${kinds.join(", ")} }`);
  const { kind } = effect;
  if (!kinds.includes(kind)) return wanted("effect.kind", kind, kinds.join(", "));
  return problemIn(effect, { kind: () => undefined, ...EFFECTS[kind] });
}

function headersWanted(headers: unknown): string | undefined {
  try {
    for (const [name, value] of Object.entries(headers ?? {})) {
      validateHeaderName(name);
      validateHeaderValue(name, value);
    }
    return undefined;
  } catch (error) {
    return `headers of HTTP: ${error instanceof Error ? error.message : ""}`;
  }
}

const isRecord = (value: unknown): boolean =>
  typeof value === "object" && value !== null && !Array.isArray(value);
