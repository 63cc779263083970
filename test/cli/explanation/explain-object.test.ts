// The text of every refusal: why an object is no source, and what to type.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Given, Texts } from "../../support/planner/raw-cluster.ts";
import { cluster, ask, pulled, refused, settled } from "../../support/planner/explained.ts";

function expectRefusal(name: string, words: Texts, given: Given, lines: readonly string[]) {
  test(`explained: refused for ${name}`, () => {
    const made = cluster({});
    made.secret("shared/one", words, given);
    assert.deepEqual(refused(ask(made, "shared/one")), lines);
  });
}

/** Refusals of one annotation, each with its value and what would be right. */
function expectInvalid(name: string, words: Texts, word: string, faults: readonly string[]) {
  const lines = faults.flatMap((fault) => [
    `its annotations are valid: invalid secretcast.io/${word}: ${fault}`,
    `$ kubectl annotate secret -n shared one --overwrite secretcast.io/${word}=VALUE`,
  ]);
  expectRefusal(name, words, {}, lines);
}

expectInvalid("nothing under to", { to: "" }, "to", [
  '"": expected a value, or no such annotation',
]);

expectInvalid("a glob that is none", { to: "Team_A" }, "to", [
  '"Team_A": expected a namespace glob: lower-case letters, digits, "-", "*" and "?", or one of these after "!"',
]);

expectInvalid("an empty entry", { to: "a,,b" }, "to", [
  '"": expected a namespace glob: lower-case letters, digits, "-", "*" and "?", or one of these after "!"',
]);

expectInvalid("a selector that is none", { "to-selector": "tier ~ x" }, "to-selector", [
  '"~ x": expected requirements such as "team=a", "tier!=test", "env in (dev, prod)", "env notin (test)", "team" or "!team", joined by ","',
]);

expectInvalid("a label key that is none", { "to-selector": "-x=1" }, "to-selector", [
  '"-x": expected a label key: at most 63 letters, digits, "-", "_" and ".", after an optional DNS prefix and "/"',
]);

expectInvalid("a label value that is none", { "to-selector": "x=_" }, "to-selector", [
  '"_": expected a label value: at most 63 letters, digits, "-", "_" and ".", ends alphanumeric',
]);

expectInvalid("match of neither word", { to: "*", match: "either", "to-selector": "x" }, "match", [
  '"either": expected "all" or "any"',
]);

expectInvalid("match: any without the other word", { to: "team-*", match: "any" }, "match", [
  '"any": expected to and to-selector, or allow and allow-selector with it, or no match',
]);

expectInvalid("a name that is none", { to: "*", name: "Not A Name" }, "name", [
  '"Not A Name": expected a name: at most 253 lower-case letters, digits, "-" and "."',
]);

expectInvalid("a name of Helm's", { to: "*", name: "sh.helm.release.v1.x" }, "name", [
  '"sh.helm.release.v1.x": expected a name that is not Helm\'s own',
]);

expectInvalid("keys that are none", { to: "*", keys: "a b" }, "keys", [
  '"a b": expected a glob over data keys, NEW=OLD, or "!" and a glob: letters, digits, "-", "_", ".", "*", "?"',
]);

expectInvalid("a rename that is none", { to: "*", keys: "=key" }, "keys", [
  '"=key": expected NEW=OLD, each a data key: at most 253 letters, digits, "-", "_" and "."',
]);

expectInvalid("a missing old key", { to: "*", keys: "a=absent" }, "keys", [
  '"a=absent": expected an old key that the source has',
]);

expectInvalid("an old key that is excluded", { to: "*", keys: "new=key,!key" }, "keys", [
  '"new=key": expected an old key that no "!" entry excludes',
]);

expectInvalid("two entries at one key", { to: "*", keys: "new=key,new=key" }, "keys", [
  '"new=key": expected a new key that no other entry fills',
]);

expectInvalid("no key left", { to: "*", keys: "absent" }, "keys", [
  '"absent": expected at least one key of the source to be left',
]);

expectInvalid("on-delete", { to: "*", "on-delete": "later" }, "on-delete", [
  '"later": expected "delete" or "keep"',
]);

expectInvalid("paused", { to: "*", paused: "perhaps" }, "paused", [
  '"perhaps": expected "true" or "false"',
]);

expectInvalid("copy-labels", { to: "*", "copy-labels": "a b" }, "copy-labels", [
  '"a b": expected a glob over label or annotation keys, such as "team" or "example.com/*"',
]);

expectInvalid("copy-annotations", { to: "*", "copy-annotations": "a/b/c" }, "copy-annotations", [
  '"a/b/c": expected a glob over label or annotation keys, such as "team" or "example.com/*"',
]);

expectRefusal("allow", { allow: "A" }, {}, [
  'its annotations are valid: invalid secretcast.io/allow: "A": expected a namespace glob: lower-case letters, digits, "-", "*" and "?", or one of these after "!"',
  "$ kubectl annotate secret -n shared one --overwrite secretcast.io/allow=VALUE",
  "it asks for copies: it carries neither secretcast.io/to nor secretcast.io/to-selector",
  "$ kubectl annotate secret -n shared one --overwrite secretcast.io/to=NAMESPACES",
]);

expectRefusal("allow-selector", { "allow-selector": "a=" + "x".repeat(64) }, {}, [
  'its annotations are valid: invalid secretcast.io/allow-selector: "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx": expected a label value: at most 63 letters, digits, "-", "_" and ".", ends alphanumeric',
  "$ kubectl annotate secret -n shared one --overwrite secretcast.io/allow-selector=VALUE",
  "it asks for copies: it carries neither secretcast.io/to nor secretcast.io/to-selector",
  "$ kubectl annotate secret -n shared one --overwrite secretcast.io/to=NAMESPACES",
]);

expectRefusal("adopt on a source", { to: "*", adopt: "shared/two" }, {}, [
  'its annotations are valid: invalid secretcast.io/adopt: "shared/two": expected no such annotation: a source is nobody\'s copy',
  "$ kubectl annotate secret -n shared one secretcast.io/adopt-",
]);

expectRefusal("an unknown key", { to: "*", "to-selecter": "x" }, {}, [
  'its annotations are valid: invalid secretcast.io/to-selecter: "to-selecter": expected one of to, to-selector, match, name, keys, copy-labels, copy-annotations, on-delete, paused, allow, allow-selector, adopt',
  "$ kubectl annotate secret -n shared one secretcast.io/to-selecter-",
]);

expectInvalid("a long list of names", { to: "n,".repeat(40_000) }, "to", [
  '"n,n,n,n,n,n,n,n,n,n,n,n,n,n,n,n,n,n,n,n,n,n,n,n,n,n,n,n,n,n,n,n,n,n,n,n,n,n,n,n,...": expected names of at most 64 KiB in all',
]);

expectInvalid(
  "many globs",
  { to: Array.from({ length: 101 }, (_, at) => `n${at}*`).join() },
  "to",
  ['"n100*": expected at most 100 entries with "*" or "?"; names are not counted'],
);

expectRefusal(
  "a slow list",
  { to: Array.from({ length: 60 }, (_, at) => `*${at}?a?a?a*`).join() },
  {},
  [
    'its annotations are valid: invalid secretcast.io/to: "*0?a?a?a*,*1?a?a?a*,*2?a?a?a*,*3?a?a?a*,*4?a?a?a*,*5?a?a?a*,*6?a?a?a*,*7?a?a?a*,...": expected globs that take at most 1008 steps a name: fewer "?" between two "*", no names made to be slow',
    "$ kubectl annotate secret -n shared one --overwrite secretcast.io/to=VALUE",
  ],
);

expectInvalid("a glob that is too long", { to: `${"a".repeat(63)}*` }, "to", [
  '"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa*": expected at most 63 characters, the most that a name has',
]);

expectRefusal(
  "a type that others fill",
  { to: "*" },
  { type: "kubernetes.io/service-account-token" },
  [
    'its annotations are valid: invalid type: "kubernetes.io/service-account-token": expected another type: Secrets of this one are made and filled by their own controller',
    "$ take another Secret: a type cannot be changed",
  ],
);

expectRefusal("a type that is too long", { to: "*" }, { type: "x".repeat(300) }, [
  'its annotations are valid: invalid type: "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...": expected a type of at most 253 characters',
  "$ take another Secret: a type cannot be changed",
]);

expectRefusal(
  "too many entries",
  { to: "*" },
  { data: Object.fromEntries(Array.from({ length: 1001 }, (_, at) => [`k${at}`, ""])) },
  [
    'its annotations are valid: invalid data: "1001 entries": expected at most 1000 data entries',
    "$ correct its data: kubectl edit secret -n shared one",
  ],
);

expectRefusal("too many bytes", { to: "*" }, { data: { key: "x".repeat(1_048_577) } }, [
  'its annotations are valid: invalid data: "1048577 bytes": expected at most 1048576 bytes (1 MiB) of data',
  "$ correct its data: kubectl edit secret -n shared one",
]);

expectRefusal(
  "too many bytes after renames",
  { to: "*", keys: "a=key,b=key" },
  { data: { key: "x".repeat(600_000) } },
  [
    'its annotations are valid: invalid secretcast.io/keys: "1200000 bytes": expected at most 1048576 bytes (1 MiB) of data',
    "$ kubectl annotate secret -n shared one --overwrite secretcast.io/keys=VALUE",
  ],
);

test("a name of Helm's releases is refused", () => {
  const made = cluster({});
  made.secret("shared/sh.helm.release.v1.x", { to: "*" });
  assert.deepEqual(refused(ask(made, "shared/sh.helm.release.v1.x")), [
    'its annotations are valid: invalid name: "sh.helm.release.v1.x": expected another name: Secrets called so are Helm\'s',
    "$ take another Secret: a name cannot be changed",
  ]);
});

test("what is no source says why, and what to type", () => {
  const made = settled({ to: "team-a" });
  made.secret("team-b/half", { to: "*" });
  made.secret("shared/plain");
  made.secret("shared/incomplete", { "on-delete": "keep" });
  assert.deepEqual(refused(ask(made, "shared/none")), [
    "it exists: there is no Secret shared/none",
    "$ kubectl get secret -A --field-selector metadata.name=none",
  ]);
  assert.deepEqual(refused(ask(made, "nowhere/none")), [
    "it exists: there is no namespace nowhere",
    "$ create the Secret again, in its namespace: kubectl create namespace nowhere",
  ]);
  assert.deepEqual(refused(ask(made, "team-b/half")), [
    "its namespace is a source namespace: team-b is none (--source-namespaces shared)",
    "$ put it into a source namespace, or name it in the source list",
    "it asks for copies: secretcast.io/to has no effect here: this namespace is no source namespace (--source-namespaces); put the Secret into one, or take it off",
  ]);
  assert.deepEqual(refused(ask(made, "shared/plain")), [
    "it asks for copies: it carries neither secretcast.io/to nor secretcast.io/to-selector",
    "$ kubectl annotate secret -n shared plain --overwrite secretcast.io/to=NAMESPACES",
  ]);
  assert.deepEqual(refused(ask(made, "shared/incomplete")).slice(0, 1), [
    "it asks for copies: secretcast.io/on-delete has no effect without to, to-selector, allow or allow-selector: add one, or take it off",
  ]);
});

test("no advice opens a tenant's namespace, and only the rule that decided has advice", () => {
  const made = settled({ to: "team-a" });
  made.secret("team-b/plain");
  made.secret("team-b/pulls", { from: "team-a/none" });
  made.secret("team-b/listed");
  made.list({ broken: "secret: team-b/listed\nto: 'A_B'\n" });
  for (const name of ["none", "plain", "pulls", "listed"])
    assert.doesNotMatch(
      JSON.stringify(ask(made, `team-b/${name}`)),
      /--source-namespaces \S*team-b/,
    );
  const [first] = refused(ask(made, "team-b/listed"));
  assert.match(first ?? "", /invalid entry broken: to: "A_B"/);
  assert.equal(refused(ask(made, "team-b/none"))[0], "it exists: there is no Secret team-b/none");
  assert.doesNotMatch(JSON.stringify(ask(made, "team-b/pulls")), /is a source namespace/);
});

test("what a Secret outside the source namespaces allows is not said to be missing", () => {
  const made = settled({ to: "team-a" });
  made.secret("team-b/off", { allow: "*" });
  made.secret("team-a/pulls", { from: "team-b/off" });
  const said = JSON.stringify(ask(made, "team-a/pulls"));
  assert.match(said, /team-b is none \(--source-namespaces shared\)/);
  assert.doesNotMatch(said, /carries neither|allow=/);
});

test("a source that others pull from is expected there without a push", () => {
  const made = cluster({});
  made.secret("shared/one", { allow: "team-*", "allow-selector": "tier=gold", match: "any" });
  const change =
    "kubectl annotate secret -n NAMESPACE NAME --overwrite secretcast.io/from=shared/one";
  const answer =
    "it is for Secrets that pull from it, in namespaces of secretcast.io/allow: team-*, or secretcast.io/allow-selector: tier=gold";
  assert.deepEqual(refused(ask(made, "shared/one")), [
    `it asks for copies: ${answer}`,
    `$ ${change}`,
  ]);
  const { places } = ask(made, "shared/one", "kube-system");
  assert.deepEqual(
    places[0]?.answers.filter(({ rule }) => rule.includes("allow")).map(({ holds }) => holds),
    [false],
    "and whether it may be pulled here",
  );
});

test("no rule is printed twice for a pulling Secret", () => {
  const { places } = ask(pulled({ allow: "team-*" }), "team-a/mine");
  const rules = places.flatMap(({ answers }) => answers.map(({ rule }) => rule));
  assert.ok(rules.includes("the annotations of its source are valid"));
  assert.equal(new Set(rules).size, rules.length, rules.join("; "));
});
