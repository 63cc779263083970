// Why a request failed, in identifiers only. The causes are a closed list.
// Promises: a name is taken from a message only if the message begins with a known sentence of the API server,
// under a matching code. The name must also have the form of Kubernetes' names. Anything else is "reason
// withheld". The text after the known beginning may quote the object, so it is dropped. A webhook or a policy
// chooses code, reason, details and the rest of its refusal, but not how it begins.
import { isRecord } from "../json.ts";
import { IDENTIFIER } from "./known-message.ts";

/** Each cause and its meaning. The keys are used in metric labels, `/api/status` and docs/reference.md. */
export const FAILURE_CAUSES = {
  policy: "an admission policy refused it",
  webhook: "an admission webhook refused it",
  webhookUnreachable: "an admission webhook gave the API server no answer",
  quota: "a resource quota would be exceeded",
  missingRight: "RBAC gives no right to it",
  limitRange: "a limit range refused it",
  finalizer: "the API takes no such finalizer",
  invalid: "the API does not take such an object",
  tooLarge: "the API takes no object of that size",
  terminating: "the namespace is being deleted",
  credentials: "authentication failed",
  throttled: "the API server is overloaded (429)",
  deadline: "no answer in time",
  connection: "no connection to the API server",
  server: "the API server itself failed",
  malformed: "the answer is not what was asked for",
  unexpected: "internal error",
  withheld: "the message fits no known sentence, and may quote the object",
} as const satisfies Readonly<Record<string, string>>;
export type Cause = keyof typeof FAILURE_CAUSES;

export type FailureCause = {
  readonly cause: Cause;
  /** One line of identifiers, without the namespace. */
  readonly text: string;
  /** Where a permission is missing. */
  readonly namespace?: string | undefined;
};

/** `here`: a namespace that need not be named. */
export function causeText({ text, namespace }: FailureCause, here?: string): string {
  return namespace === undefined || namespace === here ? text : `${text} in namespace ${namespace}`;
}

/** The cause in the answer with `code`, by its Status `body`. Undefined if it contains no known one. */
export function answeredCause(code: number, body: unknown): FailureCause | undefined {
  if (!isRecord(body) || typeof body["message"] !== "string") return undefined;
  const message = body["message"].slice(0, LONGEST);
  for (const { cause, codes, begins, text } of SENTENCES) {
    const found = codes === undefined || codes.includes(code) ? begins.exec(message) : null;
    if (!found) continue;
    const { groups = {} } = found;
    return { cause, text: text(groups, body), namespace: groups["namespace"] };
  }
  return undefined;
}

/** A value of the API's own lists of reasons and causes. Any other value becomes "". */
export function knownReason(value: unknown): string {
  return typeof value === "string" && REASONS.has(value) ? value : "";
}

// Longer than every known beginning, which has up to three names.
const LONGEST = 2048;

type Groups = Readonly<Record<string, string | undefined>>;
type Sentence = {
  readonly cause: Cause;
  /** Undefined means any code, because a webhook chooses it. */
  readonly codes?: readonly number[];
  readonly begins: RegExp;
  readonly text: (groups: Groups, status: Readonly<Record<string, unknown>>) => string;
};

const named = (name: string): string => `(?<${name}>${IDENTIFIER})`;
const FORBIDDEN = `^${IDENTIFIER}(?: "${IDENTIFIER}")? is forbidden: `;
const INVALID = `^[A-Z][A-Za-z]{0,62}(?:\\.${IDENTIFIER})? "${IDENTIFIER}" is invalid: `;
const VERB =
  "(?<verb>get|list|watch|create|update|patch|delete|deletecollection|impersonate|escalate|bind)";

const SENTENCES: readonly Sentence[] = [
  {
    cause: "webhook",
    begins: new RegExp(`^admission webhook "${named("name")}" denied the request`),
    text: ({ name }) => `webhook ${name} refused it`,
  },
  {
    cause: "webhook",
    begins: new RegExp(`^admission webhook "${named("name")}" does not support dry run`),
    text: ({ name }) => `webhook ${name} does not support dry runs`,
  },
  {
    cause: "webhookUnreachable",
    codes: [500],
    begins: new RegExp(`^Internal error occurred: failed calling webhook "${named("name")}": `),
    text: ({ name }) => `webhook ${name} gave no answer`,
  },
  {
    cause: "policy",
    codes: [401, 403, 413, 422],
    begins: new RegExp(
      `${FORBIDDEN}ValidatingAdmissionPolicy '${named("name")}'` +
        `(?: with binding '${named("binding")}')? denied request: `,
    ),
    text: ({ name, binding }) =>
      `policy ${name}${binding === undefined ? "" : ` with binding ${binding}`} refused it`,
  },
  {
    cause: "quota",
    codes: [403],
    begins: new RegExp(`${FORBIDDEN}exceeded quota: ${named("name")}, requested: `),
    text: ({ name }) => `quota ${name} would be exceeded`,
  },
  {
    cause: "quota",
    codes: [403],
    begins: new RegExp(`${FORBIDDEN}status unknown for quota: ${named("name")}, resources: `),
    text: ({ name }) => `quota ${name} is not counted yet`,
  },
  {
    cause: "missingRight",
    codes: [403],
    begins: new RegExp(
      `${FORBIDDEN}User "[^"\\\\]{1,512}" cannot ${VERB} ` +
        `resource "(?<resource>${IDENTIFIER}(?:/[a-z]{1,63})?)" in API group "(?:${IDENTIFIER})?" ` +
        `(?:in the namespace "${named("namespace")}"|at the cluster scope)(?:$|: )`,
    ),
    text: ({ verb, resource }) => `no right to ${verb} ${resource}`,
  },
  {
    cause: "limitRange",
    codes: [403],
    begins: new RegExp(
      `${FORBIDDEN}\\[?(?<bound>maximum|minimum) ${named("resource")} ` +
        "usage per (?<kind>Pod|Container|PersistentVolumeClaim) is ",
    ),
    text: ({ bound, resource, kind }) => `limit range: ${bound} ${resource} of a ${kind}`,
  },
  {
    cause: "finalizer",
    codes: [422],
    begins: new RegExp(`${INVALID}\\[?metadata\\.finalizers(?:\\[\\d{1,4}\\])?: `),
    text: () => "its finalizers are refused",
  },
  {
    cause: "invalid",
    codes: [422],
    begins: new RegExp(INVALID),
    text: (_, status) => `invalid${fieldsOf(status)}`,
  },
  {
    cause: "tooLarge",
    codes: [413],
    begins: /^Request entity too large: limit is \d{1,12}$/,
    text: () => "the request is too large",
  },
  {
    cause: "tooLarge",
    codes: [500],
    begins: /^etcdserver: request is too large$/,
    text: () => "the object is too large for etcd",
  },
];

// The API defines every field name of a Secret except the keys of its entries. These keys are well known.
const FIELD =
  /^(?:type|immutable|(?:data|stringData)(?:\[(?:\.dockerconfigjson|\.dockercfg|tls\.crt|tls\.key|username|password|ssh-privatekey)\])?|metadata(?:\.(?:name|namespace|generateName|labels|annotations|ownerReferences|resourceVersion|uid|managedFields))?)/;
const MOST_FIELDS = 5;

type Fields = Readonly<Record<string, unknown>>;

/** The causes in the details of a Status. */
export function statusCauses(status: Fields): readonly Fields[] {
  const details = isRecord(status["details"]) ? status["details"] : {};
  return Array.isArray(details["causes"]) ? details["causes"].filter(isRecord) : [];
}

/** ": data[tls.crt] FieldValueInvalid". */
function fieldsOf(status: Fields): string {
  const fields = statusCauses(status)
    .slice(0, MOST_FIELDS)
    .flatMap(({ field, reason }) => {
      const [path = ""] = typeof field === "string" ? (FIELD.exec(field) ?? []) : [];
      const words = [path, knownReason(reason)].filter(Boolean);
      return words.length > 0 ? [words.join(" ")] : [];
    });
  return fields.length > 0 ? `: ${[...new Set(fields)].join(", ")}` : "";
}

const REASONS: ReadonlySet<string> = new Set([
  "Unauthorized",
  "Forbidden",
  "NotFound",
  "AlreadyExists",
  "Conflict",
  "Gone",
  "Invalid",
  "ServerTimeout",
  "StoreReadError",
  "Timeout",
  "TooManyRequests",
  "BadRequest",
  "MethodNotAllowed",
  "NotAcceptable",
  "RequestEntityTooLarge",
  "UnsupportedMediaType",
  "InternalError",
  "Expired",
  "ServiceUnavailable",
  "FieldValueNotFound",
  "FieldValueRequired",
  "FieldValueDuplicate",
  "FieldValueInvalid",
  "FieldValueNotSupported",
  "FieldValueForbidden",
  "FieldValueTooLong",
  "FieldValueTooMany",
  "FieldValueTypeInvalid",
  "NamespaceTerminating",
  "ResourceVersionTooLarge",
  "UnexpectedServerResponse",
  "FieldManagerConflict",
]);
