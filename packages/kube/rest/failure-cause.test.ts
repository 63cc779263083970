// The causes of failures: each from the API server's own sentence, and nothing from anything else.
import assert from "node:assert/strict";
import { inspect } from "node:util";
import { test } from "node:test";
import * as fc from "fast-check";
import { ApiError, statusError } from "./api-error.ts";
import { causeText, FAILURE_CAUSES } from "./failure-cause.ts";
import type { Cause } from "./failure-cause.ts";
import { anyText } from "../testing/any-text.ts";
import { isBrief } from "../testing/extent.ts";

const runs = Number(process.env["SECRETCAST_TEST_RUNS"] ?? (isBrief ? 3000 : 10_000));

/** What a real API server said (test/cluster/failure-cause.test.ts), without what follows the sentence. */
const SAID: readonly (readonly [number, string, string, Cause, string])[] = [
  [
    422,
    "Invalid",
    `secrets "a" is forbidden: ValidatingAdmissionPolicy 'no-secrets' with binding 'all' denied request: `,
    "policy",
    "policy no-secrets with binding all refused it",
  ],
  [
    403,
    "Forbidden",
    `secrets "a" is forbidden: ValidatingAdmissionPolicy 'no-secrets' denied request: `,
    "policy",
    "policy no-secrets refused it",
  ],
  [
    400,
    "",
    'admission webhook "deny.example.com" denied the request: ',
    "webhook",
    "webhook deny.example.com refused it",
  ],
  [
    429,
    "TooManyRequests",
    'admission webhook "deny.example.com" denied the request without explanation',
    "webhook",
    "webhook deny.example.com refused it",
  ],
  [
    400,
    "BadRequest",
    'admission webhook "deny.example.com" does not support dry run',
    "webhook",
    "webhook deny.example.com does not support dry runs",
  ],
  [
    500,
    "InternalError",
    'Internal error occurred: failed calling webhook "deny.example.com": failed to call webhook: ',
    "webhookUnreachable",
    "webhook deny.example.com gave no answer",
  ],
  [
    403,
    "Forbidden",
    'secrets "a" is forbidden: exceeded quota: full, requested: secrets=1, used: secrets=1k, limited: secrets=1k',
    "quota",
    "quota full would be exceeded",
  ],
  [
    403,
    "Forbidden",
    'secrets is forbidden: User "system:serviceaccount:a:b" cannot create resource "secrets" in API group "" in the namespace "team-a"',
    "missingRight",
    "no right to create secrets in namespace team-a",
  ],
  [
    403,
    "Forbidden",
    'namespaces "a" is forbidden: User "jane" cannot get resource "namespaces" in API group "" at the cluster scope: ',
    "missingRight",
    "no right to get namespaces",
  ],
  [
    403,
    "Forbidden",
    'pods "a" is forbidden: [minimum memory usage per Container is 1Gi, but request is 1Mi, ',
    "limitRange",
    "limit range: minimum memory of a Container",
  ],
  [
    422,
    "Invalid",
    'Secret "a" is invalid: metadata.finalizers: Forbidden: no new finalizers can be added ',
    "finalizer",
    "its finalizers are refused",
  ],
  [422, "Invalid", 'Secret "a" is invalid: data: Too long: ', "invalid", "invalid"],
  [
    413,
    "RequestEntityTooLarge",
    "Request entity too large: limit is 3145728",
    "tooLarge",
    "the request is too large",
  ],
  [401, "Unauthorized", "Unauthorized", "credentials", FAILURE_CAUSES.credentials],
  [429, "TooManyRequests", "Too many requests", "throttled", FAILURE_CAUSES.throttled],
  [504, "Timeout", "Timeout: request did not complete", "deadline", FAILURE_CAUSES.deadline],
  [503, "", "oops", "server", `${FAILURE_CAUSES.server} (503)`],
  [403, "Forbidden", "no", "withheld", "reason withheld (403 Forbidden)"],
];

const refusal = (code: number, reason: string, message: string, details: object = {}): ApiError =>
  statusError("create secret a/b", code, { kind: "Status", code, reason, message, details });

for (const [code, reason, message, word, text] of SAID)
  test(`a ${code} "${message.slice(0, 60)}" has the cause ${word}: ${text}`, () => {
    const { why } = refusal(code, reason, message);
    assert.equal(why.cause, word);
    assert.equal(causeText(why), text);
  });

test("a missing right names its namespace where that is another than the place's", () => {
  const said = SAID.find(([, , , word]) => word === "missingRight");
  assert.ok(said);
  const { why } = refusal(said[0], said[1], said[2]);
  assert.equal(causeText(why, "team-a"), "no right to create secrets");
  assert.equal(causeText(why, "team-b"), "no right to create secrets in namespace team-a");
});

test("an invalid object is reported by the fields and reasons that the API itself knows", () => {
  const causes = [
    { field: "data[tls.crt]", reason: "FieldValueRequired" },
    { field: "data[hunter2]", reason: "FieldValueInvalid" },
    { field: "metadata.labels.hunter2", reason: "hunter" },
  ];
  const { why } = refusal(422, "Invalid", 'Secret "a" is invalid: [', { causes });
  assert.equal(
    why.text,
    "invalid: data[tls.crt] FieldValueRequired, data FieldValueInvalid, metadata.labels",
  );
});

test("a message is known only at its start and with its code", () => {
  for (const [code, reason, message, word] of SAID.slice(0, 12)) {
    assert.equal(refusal(code, reason, ` ${message}`).why.cause === word, false, message);
    assert.equal(refusal(code, reason, `quotes ${message}`).why.cause === word, false, message);
    // A webhook chooses its code.
    const elsewhere = refusal(418, reason, message).why.cause;
    assert.equal(elsewhere, word === "webhook" ? word : "withheld", message);
  }
});

// Of a value that is formed as a name nobody can tell that it is none, so it stands where the API server
// quotes others. Any other stands anywhere, in the names' places too.
const ANYWHERE = fc
  .tuple(anyText(40), fc.constantFrom("A", " ", '"', "'", "\n", "=", "é"))
  .map(([text, odd]) => `hunter2${odd}${text}`);
const NAME_LIKE = fc.stringMatching(/^[a-z0-9][-.a-z0-9]{0,30}$/).map((text) => `hunter2-${text}`);
const MESSAGES = fc.constantFrom(...SAID.map(([, , message]) => message));
const CODES = fc.constantFrom(
  0,
  200,
  400,
  401,
  403,
  404,
  408,
  409,
  413,
  418,
  422,
  429,
  500,
  503,
  504,
);
/** With a value in it; `at`: which share of the message stands before it. */
const hostile = fc.oneof(
  fc.record({ value: ANYWHERE, message: MESSAGES, at: fc.double({ min: 0, max: 1, noNaN: true }) }),
  fc.record({ value: NAME_LIKE, message: MESSAGES, at: fc.constantFrom(0, 1) }),
);

test("no cause and no error holds a value, whoever chose the message", () => {
  let named = 0;
  fc.assert(
    fc.property(hostile, CODES, fc.boolean(), ({ value, message, at }, code, keeps) => {
      const cut = Math.round(message.length * at);
      const text = `${message.slice(0, cut)}${value}${keeps ? message.slice(cut) : ""}`;
      const details = {
        name: value,
        kind: value,
        causes: [{ reason: value, field: value, message: text }, { field: `data[${value}]` }],
      };
      const status = { kind: "Status", code, reason: value, message: text, details };
      const error = statusError("create secret a/b", code, status);
      if (error.why.cause !== "withheld") named++;
      const reported = `${inspect(error, { showHidden: true, depth: null })} ${error.message} ${causeText(error.why)}`;
      assert.ok(!reported.includes("hunter2"), `${text}: ${reported}`);
      assert.ok(error.why.cause in FAILURE_CAUSES);
      assert.ok(error.why.text.length <= 900, error.why.text);
    }),
    { numRuns: runs },
  );
  assert.ok(named > runs / 20, `${named} of ${runs} messages had a cause`);
});

test("the longest message costs no time to speak of", () => {
  for (const [, , message] of SAID)
    for (const fill of ["a", ".", '"a', "a-", message]) {
      const text = `${message.slice(0, 30)}${fill.repeat(1_000_000 / fill.length)}`;
      assert.ok(refusal(403, "Forbidden", text).why.text.length < 1000);
    }
});

test("each error without an answer has a cause too", () => {
  const cause = (kind: ApiError["kind"], status = 0): string =>
    new ApiError("x", { kind, status, reason: "R" }).why.cause;
  assert.equal(cause("timeout"), "deadline");
  assert.equal(cause("unavailable"), "connection");
  assert.equal(cause("unavailable", 503), "server");
  assert.equal(cause("malformed", 200), "malformed");
  assert.equal(cause("unauthorized"), "credentials");
  assert.equal(cause("forbidden", 403), "withheld");
});
