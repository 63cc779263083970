// The few sentences of the API server that callers act on. A webhook chooses the code, the reason and the
// details of its refusal, but its message always begins `admission webhook "`. So a sentence counts only when
// it is the exact, whole message. Only identifiers and figures are taken from it, never other text.
import { isRecord } from "../json.ts";

export type KnownMessage =
  /** The object does not exist, or exists already: a GET's 404, a create's 409. */
  | {
      readonly kind: "notFound" | "alreadyExists";
      readonly resource: string;
      readonly name: string;
    }
  /** A create's 403, with the first quota that it would exceed. */
  | {
      readonly kind: "exceededQuota";
      readonly resource: string;
      readonly name: string;
      readonly figures: readonly QuotaFigure[];
    };

/** The counts in the message: for each resource the requested, used and allowed number. */
export type QuotaFigure = {
  readonly resource: string;
  readonly requested: number;
  readonly used: number;
  readonly limited: number;
};

/** The known sentence in the Status `body` of an answer with `code`. Undefined if there is no such sentence. */
export function knownMessage(code: number, body: unknown): KnownMessage | undefined {
  if (!isRecord(body) || body["kind"] !== "Status" || body["code"] !== code) return undefined;
  const { message, reason, details } = body;
  if (typeof message !== "string" || message.length > LONGEST || !isRecord(details))
    return undefined;
  const { kind: resource, name } = details;
  if (!isIdentifier(resource) || !isIdentifier(name)) return undefined;
  const object = `${resource} "${name}"`;
  if (code === 404 && reason === "NotFound" && message === `${object} not found`)
    return { kind: "notFound", resource, name };
  if (code === 409 && reason === "AlreadyExists" && message === `${object} already exists`)
    return { kind: "alreadyExists", resource, name };
  if (code !== 403 || reason !== "Forbidden") return undefined;
  const beginning = `${object} is forbidden: exceeded quota: `;
  if (!message.startsWith(beginning)) return undefined;
  const figures = quotaFigures(message.slice(beginning.length));
  return figures && { kind: "exceededQuota", resource, name, figures };
}

/** A pattern for a Kubernetes name of at most 253 characters. */
export const IDENTIFIER = "[a-z0-9][-.a-z0-9]{0,252}";

// A quota names few resources.
const LONGEST = 4096;
const WHOLE = new RegExp(`^${IDENTIFIER}$`);

function isIdentifier(value: unknown): value is string {
  return typeof value === "string" && WHOLE.test(value);
}

// "NAME, requested: secrets=1, used: secrets=5, limited: secrets=5"
const COUNTS = "([-./=,a-zA-Z0-9]+)";
const QUOTA = new RegExp(
  `^${IDENTIFIER}, requested: ${COUNTS}, used: ${COUNTS}, limited: ${COUNTS}$`,
);

function quotaFigures(text: string): readonly QuotaFigure[] | undefined {
  const [, requested, used, limited] = QUOTA.exec(text) ?? [];
  const counts = [requested, used, limited].map((part) => countsOf(part ?? ""));
  const [wanted, present, most] = counts;
  if (!wanted || !present || !most) return undefined;
  const figures: QuotaFigure[] = [];
  for (const [resource, count] of wanted) {
    const [is, may] = [present.get(resource), most.get(resource)];
    if (is === undefined || may === undefined) return undefined;
    figures.push({ resource, requested: count, used: is, limited: may });
  }
  return present.size === wanted.size && most.size === wanted.size ? figures : undefined;
}

// Whole numbers only: a count in thousands ("1k") is not parsed.
function countsOf(text: string): ReadonlyMap<string, number> | undefined {
  const counts = new Map<string, number>();
  for (const part of text.split(",")) {
    const [, resource, count] = /^([-./a-zA-Z0-9]+)=(\d{1,9})$/.exec(part) ?? [];
    if (resource === undefined || count === undefined || counts.has(resource)) return undefined;
    counts.set(resource, Number(count));
  }
  return counts;
}
