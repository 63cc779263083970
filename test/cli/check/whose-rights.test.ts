// Whose rights are asked for: the account's by impersonation, or else by a review of it; and never those of
// the user in its place.
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { rightsOfAccount, rightsOfUser } from "../../../src/cli/check/whose-rights.ts";
import { createClient } from "../../../packages/kube/rest/client.ts";
import { systemClock } from "../../../packages/kube/time/clock.ts";
import { answer, bodyOf, serve } from "../../../packages/kube/testing/http-server.ts";
import { kubeConfigFor } from "../../../packages/kube/testing/kubeconfig-text.ts";

const ACCOUNT = "system:serviceaccount:platform:copier";
const RIGHT = { verb: "list", resource: "secrets" };
const { signal } = new AbortController();

type Spec = { readonly user?: string; readonly groups?: readonly string[] };
type Asked = { readonly kind: string; readonly as: unknown; readonly spec: Spec };

/** A server that grants what `grants` says; undefined is a 403. */
async function reviewer(t: TestContext, grants: (asked: Asked) => boolean | undefined) {
  const asked: Asked[] = [];
  const server = await serve(t, (request, response) => {
    void bodyOf(request).then((body) => {
      const { kind, spec } = body as { kind: string; spec: Spec };
      const one = { kind, as: request.headers["impersonate-user"], spec };
      asked.push(one);
      const allowed = grants(one);
      if (allowed !== undefined) return answer(response, 201, { kind, status: { allowed } });
      return answer(response, 403, { kind: "Status", code: 403, reason: "Forbidden" });
    });
  });
  const options = { clock: systemClock, userAgent: "tests" };
  const config = kubeConfigFor(server.url);
  const impersonateUser = ACCOUNT;
  const client = createClient(config, options);
  const other = createClient({ ...config, user: { ...config.user, impersonateUser } }, options);
  t.after(() => Promise.all([client.close(), other.close()]));
  return { asked, client, other };
}

test("an account's rights are asked for as that account, and the user's own apart", async (t) => {
  const { asked, client, other } = await reviewer(t, ({ as }) => as === ACCOUNT);
  const account = rightsOfAccount(client, other, { user: ACCOUNT, groups: [] });
  assert.equal(await account(RIGHT, signal), true);
  assert.equal(await rightsOfUser(client)(RIGHT, signal), false);
  assert.deepEqual(
    asked.map(({ kind, as }) => [kind, as]),
    [
      ["SelfSubjectAccessReview", ACCOUNT],
      ["SelfSubjectAccessReview", undefined],
    ],
  );
});

test("an account is reviewed with its own groups where impersonation is forbidden", async (t) => {
  const { asked, client, other } = await reviewer(t, ({ kind }) =>
    kind === "SubjectAccessReview" ? true : undefined,
  );
  const account = rightsOfAccount(client, other, { user: ACCOUNT, groups: [] });
  assert.equal(await account(RIGHT, signal), true);
  assert.equal(await account(RIGHT, signal), true);
  assert.deepEqual(
    asked.map(({ kind }) => kind),
    ["SelfSubjectAccessReview", "SubjectAccessReview", "SubjectAccessReview"],
  );
  assert.deepEqual(asked[1]?.spec, {
    user: ACCOUNT,
    groups: ["system:serviceaccounts", "system:serviceaccounts:platform", "system:authenticated"],
    resourceAttributes: RIGHT,
  });
  const user = rightsOfAccount(client, other, { user: "jane", groups: ["ops"] });
  await user(RIGHT, signal);
  assert.deepEqual(asked.at(-1)?.spec.groups, ["ops", "system:authenticated"]);
});

test("where neither is allowed, the answer is the refusal and not the user's own right", async (t) => {
  const { client, other } = await reviewer(t, ({ as, kind }) =>
    kind === "SelfSubjectAccessReview" && as === undefined ? true : undefined,
  );
  const account = rightsOfAccount(client, other, { user: ACCOUNT, groups: [] });
  await assert.rejects(account(RIGHT, signal), /forbidden|403/i);
});
