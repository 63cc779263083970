import { whyOf } from "../../support/planner/why-of.ts";
import assert from "node:assert/strict";
import { test } from "node:test";
import { base64, type Given, type Texts } from "../../support/planner/raw-cluster.ts";
import { Cluster, verdictAt } from "../../support/planner/planner-cluster.ts";

const SOURCE = { user: "u", password: "p" };

function cluster(allow: Texts, words: Texts = {}, given: Given = { data: {} }): Cluster {
  const made = new Cluster();
  for (const name of ["shared", "team-a", "team-b"]) made.namespace(name, {}, { team: name });
  made.secret("shared/db", allow, { data: SOURCE });
  made.secret("team-a/app", { from: "shared/db", ...words }, given);
  return made;
}

function keys(made: Cluster): readonly string[] {
  return Object.keys(made.get("team-a/app").data).toSorted();
}

function mark(made: Cluster, word: string): string | undefined {
  return made.get("team-a/app").metadata.annotations[`secretcast.io/${word}`];
}

test("a pulling Secret waits for its source and is filled, with a record of it", () => {
  const made = cluster({ allow: "*" });
  const source = made.get("shared/db");
  made.delete("shared/db");
  assert.equal(verdictAt(made.sync(), "team-a/app"), "conflict");
  made.secrets.set("shared/db", source);
  made.settle();
  assert.deepEqual(keys(made), ["password", "user"]);
  assert.equal(mark(made, "placed-at"), "team-a/app");
  assert.equal(mark(made, "source-uid"), source.metadata.uid);
  assert.equal(mark(made, "source-version"), source.metadata.resourceVersion);
  assert.deepEqual(made.sync().actions, []);
});

test("the source's keys filter first, the pulling Secret's second", () => {
  const made = cluster({ allow: "*", keys: "!user" }, { keys: "secret=password" });
  made.settle();
  assert.deepEqual(keys(made), ["secret"]);
  assert.equal(made.get("team-a/app").data["secret"], base64("p"));
});

for (const [what, allow] of [
  ["allow names another namespace", { allow: "team-b" }],
  ["allow-selector does not match", { "allow-selector": "team=team-b" }],
  ["both are given and one does not hold", { allow: "*", "allow-selector": "team=team-b" }],
  ["it only pushes", { to: "team-b" }],
  ["it is refused", { allow: "*", "allow-selecter": "x" }],
] as const) {
  test(`no consent, because ${what}: the same reason as for no source`, () => {
    const made = cluster(allow);
    const refused = made.sync().rows.find(({ pulling }) => pulling);
    made.delete("shared/db");
    const absent = made.sync().rows.find(({ pulling }) => pulling);
    assert.equal(refused?.verdict, "conflict");
    assert.deepEqual(refused.reason, absent?.reason);
    assert.deepEqual(keys(made), []);
  });
}

test("a Secret outside the source namespaces cannot be pulled", () => {
  const made = cluster({ allow: "*" }, { from: "team-b/db" });
  made.secret("team-b/db", { allow: "*" }, { data: SOURCE });
  assert.equal(verdictAt(made.sync(), "team-a/app"), "conflict");
});

test("consent goes: the content goes, and the UID of the source stays as the record", () => {
  const made = cluster({ allow: "*" });
  made.settle();
  made.annotate("shared/db", { allow: "team-b" });
  made.now += 5000;
  assert.equal(verdictAt(made.sync(), "team-a/app"), "release");
  assert.deepEqual(keys(made), ["password", "user"]);
  assert.equal(verdictAt(made.end(), "team-a/app"), "release");
  assert.deepEqual(keys(made), []);
  assert.equal(mark(made, "source-version"), undefined);
  assert.equal(mark(made, "placed-at"), undefined);
  assert.equal(mark(made, "source-uid"), made.get("shared/db").metadata.uid);
  assert.equal(mark(made, "from"), "shared/db");
});

test("a label of a namespace is read live before anything is emptied for it", () => {
  const made = cluster({ "allow-selector": "team=team-a" });
  made.settle();
  made.namespace("team-a");
  made.deafen("team-a");
  made.namespace("team-a", {}, { team: "team-a" });
  made.sync();
  made.now += 10_000;
  made.settle();
  assert.deepEqual(keys(made), ["password", "user"]);
  made.namespace("team-a");
  made.settle();
  assert.deepEqual(keys(made), []);
});

test("the source goes: after the grace what was filled goes, unless the owner keeps it", () => {
  for (const [word, left] of [
    ["delete", []],
    ["keep", ["password", "user"]],
  ] as const) {
    const made = cluster({ allow: "*" }, { "on-delete": word });
    made.settle();
    const { uid } = made.get("shared/db").metadata;
    made.delete("shared/db");
    assert.equal(verdictAt(made.sync(), "team-a/app"), "release");
    assert.deepEqual(keys(made), ["password", "user"]);
    made.settle();
    assert.deepEqual(keys(made), left);
    assert.equal(mark(made, "source-version"), undefined);
    assert.equal(mark(made, "source-uid"), uid);
    assert.equal(verdictAt(made.settle(), "team-a/app"), "conflict");
  }
});

test("a paused or refused source leaves what it filled as it is", () => {
  const made = cluster({ allow: "*" });
  made.settle();
  made.edit("shared/db", ({ metadata, data }) => {
    metadata.annotations["secretcast.io/paused"] = "true";
    data["password"] = base64("new");
  });
  made.now += 5000;
  assert.equal(verdictAt(made.sync(), "team-a/app"), "paused");
  made.annotate("shared/db", { paused: "maybe" });
  assert.equal(verdictAt(made.sync(), "team-a/app"), "frozen");
  assert.equal(made.get("team-a/app").data["password"], base64("p"));
});

test("a source made anew that is paused or refused leaves filled content", () => {
  for (const [words, verdict] of [
    [{ to: "*", paused: "true" }, "paused"],
    [{ allow: "!*", paused: "true" }, "paused"],
    [{ allow: "*", "on-delete": "never" }, "frozen"],
  ] as const) {
    const made = cluster({ allow: "*" });
    made.settle();
    made.delete("shared/db");
    made.secret("shared/db", words, { data: { password: "new" } });
    assert.equal(verdictAt(made.settle(), "team-a/app"), verdict, JSON.stringify(words));
    assert.equal(made.get("team-a/app").data["password"], base64("p"));
  }
});

test("another source: the old one's entries go, the new one's come", () => {
  const made = cluster({ allow: "*" });
  made.secret("shared/other", { allow: "*" }, { data: { token: "t" } });
  made.settle();
  made.annotate("team-a/app", { from: "shared/other" });
  made.settle();
  assert.deepEqual(keys(made), ["token"]);
  made.annotate("team-a/app", { from: "shared/none" });
  made.settle();
  assert.deepEqual(keys(made), []);
});

test("the owner applies it empty again, or edits what was filled: it is filled again", () => {
  const made = cluster({ allow: "*" }, {}, { data: {} });
  made.settle();
  made.secret("team-a/app", { from: "shared/db" }, { data: {} });
  made.settle();
  assert.deepEqual(keys(made), ["password", "user"]);
  made.edit("team-a/app", ({ data }) => (data["password"] = base64("edited")));
  made.settle();
  assert.equal(made.get("team-a/app").data["password"], base64("p"));
  made.edit("team-a/app", ({ data }) => (data["more"] = base64("its owner's")));
  made.settle();
  assert.deepEqual(keys(made), ["password", "user"], "it holds only what it pulls");
});

test("a new process counts a difference as an edit only with a matching record", () => {
  const causeAfter = (change: (made: Cluster) => void): readonly (string | undefined)[] => {
    const made = cluster({ allow: "*" });
    made.settle();
    change(made);
    made.restart();
    return made.plan().actions.map((action) => ("cause" in action ? action.cause : undefined));
  };
  const edit = (made: Cluster): unknown =>
    made.edit("team-a/app", ({ data }) => (data["password"] = base64("edited")));
  const rotate = (made: Cluster): unknown =>
    made.edit("shared/db", ({ data }) => (data["password"] = base64("new")));
  const again = (made: Cluster): void => {
    made.delete("shared/db");
    made.secret("shared/db", { allow: "*" }, { data: { ...SOURCE, password: "other" } });
  };
  assert.deepEqual(causeAfter(rotate), ["changed"]);
  assert.deepEqual(causeAfter(again), ["changed"]);
  assert.deepEqual(causeAfter(edit), ["edited"]);
});

test("an edited fill beside own keys is filled once more", () => {
  const made = cluster({ allow: "*" }, { keys: "secret=password" });
  made.settle();
  made.edit("team-a/app", ({ data }) => (data["secret"] = base64("edited")));
  made.settle();
  assert.equal(made.get("team-a/app").data["secret"], base64("p"));
  assert.deepEqual(made.sync().actions, []);
  made.restart();
  assert.deepEqual(made.plan().actions, [], "a new process need not look at it");
});

test("a pull source made again with equal data becomes the recorded one", () => {
  for (const words of [{}, { keys: "*" }] as const) {
    const made = cluster({ allow: "*" }, words);
    made.settle();
    made.delete("shared/db");
    const { metadata } = made.secret("shared/db", { allow: "*" }, { data: SOURCE });
    made.settle();
    assert.equal(mark(made, "source-uid"), metadata.uid);
    assert.deepEqual(keys(made), ["password", "user"]);
  }
});

test("an entry of a source is recorded and removed again without a change of data", () => {
  const made = cluster({ allow: "*" });
  made.settle();
  assert.equal(mark(made, "entry"), undefined);
  made.list({ db: 'secret: shared/db\nallow: "*"' });
  made.reread();
  made.settle();
  assert.equal(mark(made, "entry"), "db");
  made.list({ unrelated: "secret: vault/unrelated\nto: nowhere" });
  made.reread();
  made.settle();
  assert.equal(mark(made, "entry"), undefined);
  assert.deepEqual(keys(made), ["password", "user"]);
});

test("own content survives and is reported until its owner empties it", () => {
  for (const data of [{ own: "mine" }, { password: "my own", user: "u" }]) {
    const made = cluster({ allow: "*" }, {}, { data: { ...data, empty: "" } });
    assert.deepEqual(made.plan().actions, [], "what the cache shows needs no look");
    made.settle();
    const result = made.sync();
    assert.deepEqual(made.writes, []);
    assert.equal(verdictAt(result, "team-a/app"), "conflict");
    assert.match(whyOf(result.rows[0]), new RegExp(Object.keys(data).join(", ")));
    assert.doesNotMatch(whyOf(result.rows[0]), /empty,/);
    made.edit("team-a/app", (app) => (app.data = { own: "" }));
    made.settle();
    assert.deepEqual(keys(made), ["password", "user"]);
  }
});

test("content of a fill belongs to its owner in another place or without a record", () => {
  for (const [word, value] of [
    ["placed-at", "team-b/app"],
    ["source-version", undefined],
    ["source-version", "x"],
  ] as const) {
    const made = cluster({ allow: "*" });
    made.settle();
    made.annotate("team-a/app", { [word]: value });
    made.edit("shared/db", ({ data }) => (data["password"] = base64("new")));
    made.settle();
    assert.equal(verdictAt(made.sync(), "team-a/app"), "conflict", word);
    assert.equal(made.get("team-a/app").data["password"], base64("p"));
  }
});

test("of content of its own five keys are named and the rest counted", () => {
  const entriesOf = (value: string, count: number): Texts =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`key-${at}`, value]));
  for (const [count, reported] of [
    [5, "key-0, key-1, key-2, key-3, key-4"],
    [7, "key-0, key-1, key-2, key-3, key-4 and 2 more"],
  ] as const) {
    const made = cluster({ allow: "*" }, {}, { data: entriesOf("its own", count) });
    made.secret("shared/db", { allow: "*" }, { data: entriesOf("the source's", 9) });
    made.settle();
    const row = made.sync().rows.find(({ pulling }) => pulling);
    assert.equal(whyOf(row), `it has content of its own: ${reported}; empty it to have it filled`);
  }
});

test("content equal to the source's becomes filled by one write of the record", () => {
  const made = cluster({ allow: "*" }, {}, { data: SOURCE });
  made.settle();
  assert.equal(made.writes.length, 1);
  assert.equal(mark(made, "placed-at"), "team-a/app");
  made.delete("shared/db");
  made.settle();
  assert.deepEqual(keys(made), []);
});

const TLS = { type: "kubernetes.io/tls", data: { "tls.crt": "c", "tls.key": "k", "ca.crt": "a" } };

test("a pulling Secret of another type, or without a required key, is not filled", () => {
  for (const [given, words, verdict] of [
    [{ type: TLS.type, data: { "tls.crt": "", "tls.key": "" } }, {}, "current"],
    [{ data: {} }, {}, "current"],
    [{ data: {} }, { keys: "ca.crt" }, "current"],
    [{ type: TLS.type, data: { "tls.crt": "", "tls.key": "" } }, { keys: "ca.crt" }, "conflict"],
    [{ type: "example.com/other", data: {} }, {}, "conflict"],
  ] as const) {
    const made = cluster({ allow: "*" }, words, given);
    made.secret("shared/db", { allow: "*" }, TLS);
    made.settle();
    const row = made.sync().rows.find(({ pulling }) => pulling);
    assert.equal(row?.verdict ?? "current", verdict, JSON.stringify([given, words]));
    assert.equal(made.writes.length > 0, verdict === "current");
  }
});

test("what the type requires is filled over the placeholder and left as a shell", () => {
  const given = { type: "kubernetes.io/dockerconfigjson", data: { ".dockerconfigjson": "{}" } };
  const made = new Cluster().withNamespaces("shared", "team-a");
  made.secret(
    "shared/db",
    { allow: "*" },
    { ...given, data: { ".dockerconfigjson": '{"auths":{}}' } },
  );
  made.secret("team-a/app", { from: "shared/db" }, given);
  made.settle();
  assert.equal(made.get("team-a/app").data[".dockerconfigjson"], base64('{"auths":{}}'));
  made.delete("shared/db");
  made.settle();
  assert.equal(made.get("team-a/app").data[".dockerconfigjson"], base64("{}"));
});

test("an immutable, refused or unreadable pulling Secret is left alone", () => {
  for (const [words, given, verdict] of [
    [{}, { immutable: true, data: {} }, "conflict"],
    [{}, { type: "kubernetes.io/service-account-token" }, "frozen"],
    [{ from: "shared" }, {}, "frozen"],
    [{ adopt: "shared/db" }, {}, "frozen"],
    [{ form: "x" }, {}, "frozen"],
  ] as const) {
    const made = cluster({ allow: "*" }, words, given);
    const result = made.settle();
    assert.deepEqual(made.writes, []);
    assert.equal(verdictAt(result, "team-a/app"), verdict);
  }
});

const MARKED = { source: "shared/gone", "placed-at": "team-a/app" };
const LABELLED = { "app.kubernetes.io/managed-by": "secretcast" };

/** Passes until its source would be missed for long enough to end a copy of it. */
function outlive(made: Cluster): void {
  for (let round = 0; round < 5; round++) {
    made.sync();
    made.now += 60_000;
  }
}

test("a pulling Secret with nearly all marks of a copy is not filled", () => {
  const made = cluster({ allow: "*" }, MARKED, { labels: LABELLED, data: { own: "mine" } });
  outlive(made);
  assert.deepEqual(keys(made), ["own"]);
  assert.equal(mark(made, "source-uid"), undefined);
  const row = made.sync().rows.find(({ pulling }) => pulling);
  assert.equal(row?.verdict, "frozen");
  assert.match(
    whyOf(row),
    /invalid secretcast\.io\/source: "shared\/gone": expected no such annotation/,
  );
});

test("a pulling Secret with every mark of a copy is never deleted or emptied", () => {
  for (const source of ["shared/gone", "shared/db"]) {
    for (const filled of [true, false]) {
      const made = cluster({ allow: "*", to: "team-a", name: "app" });
      if (filled) made.settle();
      made.edit("team-a/app", ({ metadata }) => {
        metadata.labels = { ...LABELLED };
        for (const [word, value] of Object.entries({ ...MARKED, source, "source-uid": "uid-1" }))
          metadata.annotations[`secretcast.io/${word}`] = value;
      });
      const before = structuredClone(made.get("team-a/app"));
      outlive(made);
      made.delete("shared/db");
      outlive(made);
      assert.deepEqual(made.get("team-a/app"), before);
    }
  }
});

test("a copy with `from` from somebody else is theirs, and the source learns of it", () => {
  const made = new Cluster().withNamespaces("shared", "team-a");
  made.secret("shared/db", { to: "team-a" }, { data: SOURCE });
  made.secret("shared/other", { allow: "*" }, { data: { more: "x" } });
  made.settle();
  made.annotate("team-a/db", { from: "shared/other" });
  const before = structuredClone(made.get("team-a/db"));
  const result = made.sync();
  assert.equal(verdictAt(result, "team-a/db", "shared/db"), "conflict");
  assert.equal(verdictAt(result, "team-a/db", "shared/other"), "frozen");
  made.delete("shared/db");
  outlive(made);
  assert.deepEqual(made.get("team-a/db"), before);
  made.secret("shared/db", { to: "team-a" }, { data: { user: "new" } });
  made.annotate("team-a/db", { from: undefined });
  made.settle();
  assert.deepEqual(Object.keys(made.get("team-a/db").data), ["user"], "without it, ours again");
});

test("a source that is being deleted fills nothing, and filled content stays until its end", () => {
  const made = cluster({ allow: "*" });
  made.secret("team-b/app", { from: "shared/db" }, { data: {} });
  made.secret("team-b/late", { from: "shared/none" }, { data: {} });
  made.settle();
  made.edit("shared/db", ({ metadata, data }) => {
    metadata.deletionTimestamp = "2026-01-02T00:00:00Z";
    Object.assign(metadata, { finalizers: ["example.com/hold"] });
    data["password"] = base64("new");
  });
  made.secret("team-b/late", { from: "shared/db" }, { data: {} });
  made.now += 5000;
  const result = made.settle();
  assert.equal(verdictAt(result, "team-a/app"), "frozen");
  assert.equal(verdictAt(result, "team-b/late"), "conflict");
  assert.equal(made.get("team-a/app").data["password"], base64("p"));
  assert.deepEqual(made.get("team-b/late").data, {});
});
