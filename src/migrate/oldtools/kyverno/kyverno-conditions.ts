// Preconditions of a rule of Kyverno that secretcast can express: conditions on the name, on a label or on
// the operation, and those between constants. All others are unknown, with the reason.
import { fields, objectsIn, textsOf, type RawFields } from "../old-objects.ts";
import { stringOf } from "../../../controller/model/unstructured.ts";
import { wildcardMatches } from "./kyverno-kinds.ts";

/** One of the names of each list, and all requirements. */
export type Block = {
  readonly lists: readonly (readonly string[])[];
  readonly requirements: readonly string[];
  /** It is asked at the creation of a namespace alone. */
  readonly atCreation: boolean;
};

export type Conditions =
  | { readonly kind: "said"; readonly block: Block; readonly except: readonly string[] }
  | { readonly kind: "never" }
  | { readonly kind: "unknown"; readonly why: string };

/** The old form is a list, and the new one has `any` and `all`. */
export function conditionsOf(raw: unknown): Conditions {
  const any = objectsIn(fields(raw)["any"]);
  const all = Array.isArray(raw) ? objectsIn(raw) : objectsIn(fields(raw)["all"]);
  if (any.length > 1) return unknown("any of several conditions");
  const lists: (readonly string[])[] = [];
  const requirements: string[] = [];
  const except: string[] = [];
  let atCreation = false;
  for (const condition of [...any, ...all]) {
    const read = conditionOf(condition);
    if (read.kind !== "said") return read;
    lists.push(...read.block.lists);
    requirements.push(...read.block.requirements);
    except.push(...read.except);
    atCreation ||= read.block.atCreation;
  }
  return { kind: "said", block: { lists, requirements, atCreation }, except };
}

const ALWAYS: Conditions = said({});
/** Operators that hold for one of the values, and those that hold for none, with the form of `value`. */
const AMONG: Operators = { Equal: "text", Equals: "text", In: "list", AnyIn: "any", AllIn: "any" };
const NOT_AMONG: Operators = {
  NotEqual: "text",
  NotEquals: "text",
  NotIn: "list",
  AnyNotIn: "any",
  AllNotIn: "any",
};
/** With a value of another form, the condition holds always or never. */
type Operators = Readonly<Record<string, "text" | "list" | "any">>;

const NAME = /^\{\{\s*request\.object\.metadata\.name\s*\}\}$/;
const OPERATION = /^\{\{\s*request\.operation(?:\s*\|\|\s*['"`]+(\w+)['"`]+)?\s*\}\}$/;
/** An absent label is an empty text, so that the condition holds or not by that. */
const LABEL =
  /^\{\{\s*request\.object\.metadata\.labels\.(?:(\w+)|\\?"([\w./-]+)\\?")\s*\|\|\s*(?:''|`""`|""|'""')\s*\}\}$/;

function conditionOf(condition: RawFields): Conditions {
  const { key: rawKey, operator: rawOperator, value } = condition;
  const [key, operator] = [stringOf(rawKey), stringOf(rawOperator)];
  const isAmong = Object.hasOwn(AMONG, operator);
  const form = isAmong ? AMONG[operator] : NOT_AMONG[operator];
  const values = valuesOf(value, form);
  if (!values || values.length === 0 || !values.every((text) => PLAIN.test(text)))
    return unknown(`${key || "a key"} ${operator}`);
  if (NAME.test(key)) {
    return isAmong ? said({ lists: [values] }) : said({}, values);
  }
  const operation = OPERATION.exec(key);
  if (operation) return ofOperation(values, isAmong);
  const label = LABEL.exec(key);
  if (label) return ofLabel(label[1] ?? label[2] ?? "", values, isAmong);
  if (key === "" || key.includes("{{")) return unknown(`${key || "a key"} ${operator}`);
  const holds = values.some((text) => wildcardMatches(text, key)) === isAmong;
  return holds ? ALWAYS : { kind: "never" };
}

/** Neither variables nor lists in JSON. */
const PLAIN = /^[-\w./:*?]*$/;

function valuesOf(
  value: unknown,
  form: Operators[string] | undefined,
): readonly string[] | undefined {
  if (form === undefined) return undefined;
  if (typeof value === "string") return form === "list" ? undefined : [value];
  const texts = textsOf(value);
  const isWhole = Array.isArray(value) && texts?.length === value.length;
  return form !== "text" && isWhole ? texts : undefined;
}

// A namespace is served when it is created, or at a later change.
function ofOperation(values: readonly string[], isAmong: boolean): Conditions {
  const serves = (operation: string): boolean => values.includes(operation) === isAmong;
  if (!serves("CREATE"))
    return unknown(`the operation ${isAmong ? "is" : "is not"} ${values.join(", ")}`);
  return said({ atCreation: !serves("UPDATE") });
}

function ofLabel(key: string, values: readonly string[], isAmong: boolean): Conditions {
  // An absent label is not among the values, except for the empty text.
  if (values.some((text) => text === "" || /[*?,()\s]/.test(text)))
    return unknown(`a pattern for the label ${key}`);
  return said({ requirements: [`${key} ${isAmong ? "in" : "notin"} (${values.join(",")})`] });
}

function unknown(what: string): Conditions {
  return { kind: "unknown", why: `its precondition cannot be expressed (${what})` };
}

function said(block: Partial<Block>, except: readonly string[] = []): Conditions {
  const nothing = { lists: [], requirements: [], atCreation: false };
  return { kind: "said", block: { ...nothing, ...block }, except };
}
