// What the API server answers to lists: paging, versions, selectors, tables.
import assert from "node:assert/strict";
import { field } from "../http.ts";
import type { Answer } from "../http.ts";
import { alone, assertFailure, causes, given, listNotOlder, ok, test, version } from "./place.ts";
import type { Place } from "./place.ts";

const TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io";

const list = (place: Place, query: string): Promise<Answer> =>
  place.http.send("GET", `${place.secrets}?${query}`);

function names(body: unknown): readonly string[] {
  const items = field(body, "items");
  assert.ok(Array.isArray(items));
  return items.map((item) => String(field(item, "metadata", "name")));
}

async function giveThree(place: Place): Promise<void> {
  await given(place, "a", { type: "example.com/one" }, { labels: { app: "x", tier: "web" } });
  await given(place, "b", { type: "example.com/two" }, { labels: { app: "y" } });
  await given(place, "c", { data: { k: "dg==", l: "dg==" } });
}

type Token = { readonly v?: string; readonly rv: number; readonly start: string };

/** As the server writes it. */
function continueToken({ v = "meta.k8s.io/v1", rv, start }: Token): string {
  return Buffer.from(JSON.stringify({ v, rv, start })).toString("base64url");
}

test("a list is in order of names and its items have no kind of their own", async (place) => {
  await given(place, "b");
  await given(place, "a");
  const body = ok(await list(place, ""), 200);
  assert.deepEqual(names(body), ["a", "b"]);
  assert.equal(field(body, "kind"), "SecretList");
  assert.equal(field(body, "items", 0, "kind"), undefined);
});

test("pages show one version, and how much is left", async (place) => {
  await giveThree(place);
  const first = ok(await list(place, "limit=1"), 200);
  assert.deepEqual(names(first), ["a"]);
  assert.equal(field(first, "metadata", "remainingItemCount"), 2);
  await given(place, "aa");
  const token = encodeURIComponent(String(field(first, "metadata", "continue")));
  const second = ok(await list(place, `limit=1&continue=${token}`), 200);
  assert.deepEqual(names(second), ["b"]);
  assert.equal(version(second), version(first));
  const next = encodeURIComponent(String(field(second, "metadata", "continue")));
  const last = ok(await list(place, `limit=1&continue=${next}`), 200);
  assert.deepEqual(names(last), ["c"]);
  assert.equal(field(last, "metadata", "continue"), undefined);
  assert.equal(field(last, "metadata", "remainingItemCount"), undefined);
});

test("a continue token that is none is a BadRequest", async (place) =>
  assertFailure(
    await list(place, "limit=1&continue=abc"),
    "BadRequest",
    /^invalid continue token: /,
  ));

test("a continue token with padding, or in base64 for other than addresses, is a BadRequest", async (place) => {
  await giveThree(place);
  const first = ok(await list(place, "limit=1"), 200);
  const token = String(field(first, "metadata", "continue"));
  for (const wrong of [`${token}=`, `${token}==`, `+${token}`, "a"])
    assertFailure(
      await list(place, `limit=1&continue=${encodeURIComponent(wrong)}`),
      "BadRequest",
      /^invalid continue token: continue key is not valid: illegal base64 data at input byte \d+$/,
    );
});

test("a continue token of version -1 goes on with what there is now, page by page", async (place) => {
  await giveThree(place);
  const token = continueToken({ rv: -1, start: "a\u0000" });
  await given(place, "bb");
  const page = ok(await list(place, `limit=1&continue=${token}`), 200);
  assert.deepEqual(names(page), ["b"]);
  const next = encodeURIComponent(String(field(page, "metadata", "continue")));
  const rest = ok(await list(place, `continue=${next}`), 200);
  assert.deepEqual(names(rest), ["bb", "c"]);
  assert.equal(version(rest), version(page));
});

test("a continue token that names no version, no key, or one that climbs, is a BadRequest", async (place) => {
  await giveThree(place);
  for (const wrong of [
    { rv: 0, start: "a" },
    { rv: 1.5, start: "a" },
    { rv: -1, start: "" },
    { rv: -1, start: "../other/a" },
    { rv: -1, start: "a/../b" },
    { rv: -1, start: "a//b" },
    { rv: -1, start: "a/" },
    { v: "meta.k8s.io/v2", rv: -1, start: "a" },
  ])
    assertFailure(
      await list(place, `limit=1&continue=${continueToken(wrong)}`),
      "BadRequest",
      /^invalid continue token: continue key is not valid/,
    );
});

test("a continue token goes with no resourceVersion", async (place) => {
  await giveThree(place);
  const first = ok(await list(place, "limit=1"), 200);
  const token = encodeURIComponent(String(field(first, "metadata", "continue")));
  assertFailure(
    await list(place, `limit=1&continue=${token}&resourceVersion=5`),
    "BadRequest",
    "specifying resource version is not allowed when using continue",
  );
});

test("a list at a version of the future is a Timeout that says when to come again", async (place) => {
  const answer = await list(place, "resourceVersion=999999999");
  assertFailure(
    answer,
    "Timeout",
    /^Timeout: Too large resource version: 999999999, current: \d+$/,
    { retryAfterSeconds: 1 },
  );
  assert.equal(field(answer.body, "details", "causes", 0, "reason"), "ResourceVersionTooLarge");
  assert.equal(answer.headers["retry-after"], "1");
});

test("an exact version shows the past, one that is not older at least what it names", async (place) => {
  const then = version(await given(place, "a"));
  const now = version(await given(place, "b"));
  const exact = ok(await list(place, `resourceVersion=${then}&resourceVersionMatch=Exact`), 200);
  assert.deepEqual(names(exact), ["a"]);
  assert.equal(version(exact), then);
  // Of what came after the version that it names, such a list may show less.
  const first = await listNotOlder(place, then);
  assert.equal(names(first)[0], "a");
  assert.ok(BigInt(version(first)) >= BigInt(then));
  const second = await listNotOlder(place, now);
  assert.deepEqual(names(second), ["a", "b"]);
  assert.ok(BigInt(version(second)) >= BigInt(now));
});

test("resourceVersionMatch without a version is Invalid", async (place) => {
  const answer = await list(place, "resourceVersionMatch=NotOlderThan");
  assertFailure(
    answer,
    "Invalid",
    'ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided',
  );
  assert.deepEqual(causes(answer), ["FieldValueForbidden resourceVersionMatch"]);
});

test("a resourceVersion that is no number is a BadRequest", async (place) =>
  assertFailure(
    await list(place, "resourceVersion=abc"),
    "BadRequest",
    /^invalid resource version: resourceVersion: Invalid value: "abc"/,
  ));

alone(
  "once history is forgotten an exact version is Expired, and a page offers a way on",
  async (place) => {
    if (place.forgetHistory === undefined) throw new Error("this server cannot forget");
    const then = version(await given(place, "a"));
    await given(place, "b");
    const first = ok(await list(place, "limit=1"), 200);
    const token = encodeURIComponent(String(field(first, "metadata", "continue")));
    await given(place, "c");
    await place.forgetHistory();
    assertFailure(
      await list(place, `resourceVersion=${then}&resourceVersionMatch=Exact`),
      "Expired",
      "The resourceVersion for the provided list is too old.",
    );
    const page = await list(place, `limit=1&continue=${token}`);
    assertFailure(
      page,
      "Expired",
      /^The provided continue parameter is too old to display a consistent list result/,
    );
    const onward = encodeURIComponent(String(field(page.body, "metadata", "continue")));
    assert.deepEqual(names(ok(await list(place, `limit=1&continue=${onward}`), 200)), ["b"]);
  },
);

test("a field selector leaves out types, and finds a name", async (place) => {
  await giveThree(place);
  const without = "type!=example.com/one,type!=example.com/two,type!=example.com/none";
  const query = `fieldSelector=${encodeURIComponent(without)}`;
  assert.deepEqual(names(ok(await list(place, query), 200)), ["c"]);
  const named = ok(await list(place, "fieldSelector=metadata.name%3Db"), 200);
  assert.deepEqual(names(named), ["b"]);
});

test("a field selector on another field is a BadRequest", async (place) =>
  assertFailure(
    await list(place, "fieldSelector=metadata.uid%3Da"),
    "BadRequest",
    "field label not supported: metadata.uid",
  ));

test("label selectors know equality, sets and existence", async (place) => {
  await giveThree(place);
  const selected = async (selector: string): Promise<readonly string[]> =>
    names(ok(await list(place, `labelSelector=${encodeURIComponent(selector)}`), 200));
  assert.deepEqual(await selected("app=x"), ["a"]);
  assert.deepEqual(await selected("app!=x"), ["b", "c"]);
  assert.deepEqual(await selected("app in (x, y)"), ["a", "b"]);
  assert.deepEqual(await selected("app notin (x)"), ["b", "c"]);
  assert.deepEqual(await selected("tier"), ["a"]);
  assert.deepEqual(await selected("!tier,app"), ["b"]);
});

test("a label selector that cannot be parsed is a BadRequest", async (place) => {
  const refused = async (selector: string, message: string): Promise<void> =>
    assertFailure(
      await list(place, `labelSelector=${encodeURIComponent(selector)}`),
      "BadRequest",
      `unable to parse requirement: ${message}`,
    );
  await refused("a b c", "found 'b', expected: in, notin, =, ==, !=, gt, lt");
  await refused("a in (b", "found '', expected: ',' or ')'");
});

test("a list of a namespace that is not there is empty", async ({ http }) => {
  const body = ok(await http.send("GET", "/api/v1/namespaces/none/secrets"), 200);
  assert.deepEqual(field(body, "items"), []);
});

test("a Table has Name, Type, Data and Age, and the metadata of each row", async (place) => {
  await giveThree(place);
  const body = ok(await place.http.send("GET", place.secrets, { accept: TABLE }), 200);
  assert.equal(field(body, "kind"), "Table");
  const columns = field(body, "columnDefinitions");
  assert.ok(Array.isArray(columns));
  assert.deepEqual(
    columns.map((column) => field(column, "name")),
    ["Name", "Type", "Data", "Age"],
  );
  const cells = field(body, "rows", 2, "cells");
  assert.ok(Array.isArray(cells));
  assert.deepEqual(cells.slice(0, 3), ["c", "Opaque", 2]);
  assert.match(String(cells[3]), /^\d+s$/);
  assert.equal(field(body, "rows", 2, "object", "kind"), "PartialObjectMetadata");
  assert.equal(field(body, "rows", 2, "object", "metadata", "name"), "c");
});
