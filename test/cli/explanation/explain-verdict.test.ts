// The text of every verdict and of every reason of a hold, which rule decided, and what to type.
import assert from "node:assert/strict";
import { test } from "node:test";
import { WHAT_TO_DO } from "../../../src/cli/explanation/explain-verdict.ts";
import { VERDICTS } from "../../../src/controller/model/verdicts.ts";
import { FAILURE_CAUSES } from "../../../packages/kube/rest/failure-cause.ts";
import { globs, type Cluster } from "../../support/planner/planner-cluster.ts";
import {
  cluster,
  ask,
  decided,
  settled,
  leaving,
  withOther,
  inTheWayOfSource,
  uncached,
  rivals,
  failingTakeover,
  withNamespace,
  configure,
  configured,
  unlisted,
  going,
  overdue,
  due,
  unreadable,
  heldDeletes,
  failed,
  fought,
  pulling,
  pulled,
} from "../../support/planner/explained.ts";

const shown = new Set<string>();

function expectPlace(name: string, build: () => Cluster, where: Where, lines: readonly string[]) {
  test(`explained: ${name}`, () => {
    const { subject = "shared/one", namespace = "team-a", source } = where;
    const got = decided(ask(build(), subject, namespace), namespace, source);
    assert.deepEqual(got, lines);
    shown.add(lines[0]?.split(" ")[0] ?? "");
  });
}
type Where = {
  readonly subject?: string;
  readonly namespace?: string;
  readonly source?: string;
};

expectPlace("a copy that is to be made", () => cluster({ to: "team-*" }), {}, [
  "create what is there: there is no copy yet",
]);

expectPlace("a copy that is current", () => settled({ to: "team-*" }), {}, [
  "current what is there: the copy is what it should be",
]);

expectPlace(
  "a copy that has to be written",
  () =>
    settled(
      { to: "team-*" },
      (made) => void made.secret("shared/one", { to: "team-*" }, { data: { key: "new" } }),
    ),
  {},
  ["update what is there: the source changed"],
);

expectPlace(
  "a copy that somebody edited",
  () =>
    settled(
      { to: "team-*" },
      (made) =>
        void made.edit("team-a/one", ({ data }) => {
          data["key"] = "eA==";
        }),
    ),
  {},
  ["update what is there: the copy was changed by somebody else"],
);

expectPlace(
  "a copy that has to be replaced",
  () =>
    settled(
      { to: "team-*" },
      (made) => void made.secret("shared/one", { to: "team-*" }, { type: "example.com/x" }),
    ),
  {},
  ["replace what is there: the source changed; the type Opaque cannot be changed to example.com/x"],
);

expectPlace(
  "a Secret that its owner gives up",
  () => withOther({ to: "team-*" }, { adopt: "shared/one" }),
  {},
  ["adopt what is there: its owner lets this source adopt it"],
);

expectPlace("a Secret in the way", () => withOther({ to: "team-*" }, {}), {}, [
  "conflict the place is free: a Secret of that name already exists. Delete it, or offer it: kubectl annotate secret NAME -n NAMESPACE secretcast.io/adopt=shared/one",
  "$ its owner gives it up, entries of its own are lost: kubectl annotate secret -n team-a one --overwrite secretcast.io/adopt=shared/one",
]);

expectPlace(
  "a Secret in the way that another source may adopt",
  () => withOther({ to: "team-*" }, { adopt: "shared/two" }),
  {},
  [
    "conflict the place is free: the Secret in the way lets shared/two adopt it, not this source",
    "$ its owner gives it up, entries of its own are lost: kubectl annotate secret -n team-a one --overwrite secretcast.io/adopt=shared/one",
  ],
);

expectPlace(
  "a Secret in the way whose adopt cannot be read",
  () => withOther({ to: "team-*" }, { adopt: "one" }),
  {},
  [
    "conflict the place is free: the Secret in the way has a secretcast.io/adopt that is not NAMESPACE/NAME of a source",
    "$ its owner gives it up, entries of its own are lost: kubectl annotate secret -n team-a one --overwrite secretcast.io/adopt=shared/one",
  ],
);

expectPlace(
  "a Secret in the way with a word that nobody knows",
  () => withOther({ to: "team-*" }, { adopt: "shared/one", "to-selecter": "x" }),
  {},
  [
    "conflict the place is free: the Secret in the way carries secretcast.io/to-selecter, which this version does not know; its owner may correct it or take it off",
    "$ its owner takes it off: kubectl annotate secret -n team-a one secretcast.io/to-selecter-",
  ],
);

expectPlace(
  "a Secret in the way of another type",
  () => withOther({ to: "team-*" }, { adopt: "shared/one" }, { type: "example.com/x" }),
  {},
  [
    "conflict the place is free: the Secret in the way is of type example.com/x, the copy would be Opaque; a type cannot be changed",
    "$ its owner gives it up: kubectl delete secret -n team-a one",
  ],
);

expectPlace(
  "an immutable Secret in the way",
  () => withOther({ to: "team-*" }, { adopt: "shared/one" }, { immutable: true }),
  {},
  [
    "conflict the place is free: the Secret in the way is immutable; its owner may delete it",
    "$ its owner gives it up: kubectl delete secret -n team-a one",
  ],
);

expectPlace(
  "a pulling Secret in the way",
  () => withOther({ to: "team-*" }, { from: "shared/two" }),
  {},
  [
    "conflict the place is free: a Secret that pulls its entries is in the way",
    "$ another name for its copies: kubectl annotate secret -n shared one --overwrite secretcast.io/name=NAME",
  ],
);

expectPlace("a source in the way", () => inTheWayOfSource(), {}, [
  "conflict the place is free: a Secret that is a source itself is in the way",
  "$ another name for its copies: kubectl annotate secret -n shared one --overwrite secretcast.io/name=NAME",
]);

expectPlace("a Secret in the way that the cache does not show", () => uncached(), {}, [
  "conflict the place is free: a Secret that the cache does not show is in the way and cannot be read: no right to get secrets",
]);

expectPlace("two sources that want one place", () => rivals(), { subject: "shared/two" }, [
  "conflict the place is free: source shared/one wants the same place and comes first",
  "$ another name for its copies: kubectl annotate secret -n shared two --overwrite secretcast.io/name=NAME",
]);

expectPlace(
  "a place that another source's copy has",
  () => rivals((made) => void made.settle()),
  { subject: "shared/two" },
  [
    "conflict the place is free: the copy of shared/one has this place",
    "$ another name for its copies: kubectl annotate secret -n shared two --overwrite secretcast.io/name=NAME",
  ],
);

expectPlace("a take-over that fails", () => failingTakeover(), {}, [
  "conflict the place is free: it cannot take this place over: quota secrets would be exceeded",
  "$ another name for its copies: kubectl annotate secret -n shared one --overwrite secretcast.io/name=NAME",
]);

expectPlace("a name that does not match", () => cluster({ to: "shop-*" }), {}, [
  "skip secretcast.io/to names it: it does not match secretcast.io/to: shop-*",
  "$ kubectl annotate secret -n shared one --overwrite 'secretcast.io/to=shop-*,team-a'",
]);

expectPlace("a name that a ! entry excludes", () => cluster({ to: "team-*,!team-a" }), {}, [
  "skip secretcast.io/to names it: a ! entry of secretcast.io/to excludes it: team-*,!team-a",
  "$ take the ! entry off: kubectl annotate secret -n shared one --overwrite secretcast.io/to=NAMESPACES",
]);

expectPlace(
  "labels that do not match",
  () => cluster({ to: "*", "to-selector": "tier=tin,!old,env in (dev, prod)" }),
  {},
  [
    "skip secretcast.io/to-selector selects it: its labels do not match secretcast.io/to-selector: tier=tin,!old,env in (dev, prod)",
    "$ kubectl label namespace team-a --overwrite tier=tin env=dev",
  ],
);

expectPlace(
  "neither name nor labels match",
  () => cluster({ to: "shop", "to-selector": "tier=tin", match: "any" }),
  {},
  [
    "skip secretcast.io/to names it, or secretcast.io/to-selector selects it: it does not match secretcast.io/to: shop, and its labels do not match secretcast.io/to-selector: tier=tin",
    "$ kubectl annotate secret -n shared one --overwrite secretcast.io/to=shop,team-a; or: kubectl label namespace team-a --overwrite tier=tin",
  ],
);

expectPlace("the source's own namespace", () => cluster({ to: "*" }), { namespace: "shared" }, [
  "skip it is not the source's own: it is the source's own namespace",
]);

expectPlace("a system namespace", () => cluster({ to: "*" }), { namespace: "kube-system" }, [
  "skip it is not excluded: the namespace is a system namespace (--include-system-namespaces)",
  "$ start the controller with --include-system-namespaces",
]);

expectPlace(
  "the controller's own namespace",
  () => withNamespace("secretcast"),
  { namespace: "secretcast" },
  [
    "skip it is not excluded: the namespace is the controller's own (--include-system-namespaces)",
    "$ start the controller with --include-system-namespaces",
  ],
);

expectPlace("an excluded namespace", () => configured({ excludeNamespaces: globs("team-*") }), {}, [
  "skip it is not excluded: the namespace is excluded (--exclude-namespaces)",
  "$ start the controller without team-a in --exclude-namespaces",
]);

expectPlace(
  "a namespace that is not to be served",
  () =>
    configured({
      scope: { targets: new Set(["team-b"]), watched: new Set(["shared", "team-a", "team-b"]) },
    }),
  {},
  [
    "skip it is not excluded: the namespace is not listed (--namespaces)",
    "$ start the controller with team-a among --namespaces",
  ],
);

expectPlace("a namespace that is not read", () => unlisted(), { namespace: "team-b" }, [
  "skip the namespace exists: the namespace is not read (--namespaces)",
]);

expectPlace(
  "a namespace that accepts nothing",
  () => cluster({ to: "*" }),
  { namespace: "team-b" },
  [
    "skip the namespace accepts it: its secretcast.io/accept is false",
    "$ kubectl annotate namespace team-b --overwrite secretcast.io/accept=shared/one",
  ],
);

expectPlace(
  "a namespace that accepts others",
  () => withNamespace("shop", { accept: "shared/two" }),
  { namespace: "shop" },
  [
    "skip the namespace accepts it: its secretcast.io/accept is shared/two",
    "$ kubectl annotate namespace shop --overwrite secretcast.io/accept=shared/two,shared/one",
  ],
);

expectPlace(
  "a namespace that accepts all but this",
  () => withNamespace("shop", { accept: "!shared/one" }),
  { namespace: "shop" },
  [
    "skip the namespace accepts it: its secretcast.io/accept is !shared/one,*/*",
    "$ let its secretcast.io/accept take shared/one: kubectl edit namespace shop",
  ],
);

expectPlace(
  "a namespace that has said nothing under opt-in",
  () => configured({ namespacePolicy: "opt-in" }),
  {},
  [
    "skip the namespace accepts it: it carries no secretcast.io/accept, and the policy is opt-in (--namespace-policy)",
    "$ kubectl annotate namespace team-a --overwrite secretcast.io/accept=shared/one",
  ],
);

expectPlace(
  "a namespace that cannot be understood, without a copy",
  () => withNamespace("shop", { accept: "maybe" }),
  { namespace: "shop" },
  [
    'skip the namespace accepts it: invalid secretcast.io/accept: "maybe": expected "true", "false" or globs over sources, NAMESPACE/NAME with "*" and "?"',
    "$ kubectl annotate namespace shop --overwrite secretcast.io/accept=true",
  ],
);

expectPlace("a namespace that is not there", () => cluster({ to: "*" }), { namespace: "nowhere" }, [
  "skip the namespace exists: there is no such namespace",
  "$ kubectl create namespace nowhere",
]);

expectPlace("a namespace that is being deleted", () => going(), {}, [
  "skip the namespace exists: the namespace is being deleted, and takes part in nothing",
]);

expectPlace(
  "a copy in a namespace that cannot be understood",
  () => settled({ to: "*" }, (made) => void made.namespace("team-a", { accept: "maybe" })),
  {},
  [
    'frozen what is to be there is known: the namespace is not understood: invalid secretcast.io/accept: "maybe": expected "true", "false" or globs over sources, NAMESPACE/NAME with "*" and "?"',
    "$ kubectl annotate namespace team-a --overwrite secretcast.io/accept=true",
  ],
);

expectPlace(
  "a copy whose source is refused",
  () => settled({ to: "*" }, (made) => made.annotate("shared/one", { paused: "yes" })),
  {},
  [
    'frozen what is to be there is known: source shared/one is refused: invalid secretcast.io/paused: "yes": expected "true" or "false"',
    "$ kubectl annotate secret -n shared one --overwrite secretcast.io/paused=VALUE",
  ],
);

expectPlace(
  "a copy whose source is paused",
  () => settled({ to: "*" }, (made) => made.annotate("shared/one", { paused: "true" })),
  {},
  [
    "paused the source is not paused: secretcast.io/paused is true: its copies stay as they are",
    "$ kubectl annotate secret -n shared one secretcast.io/paused-",
  ],
);

expectPlace(
  "a copy that is not wanted any more, of a source that is paused",
  () => settled({ to: "*" }, (made) => made.annotate("shared/one", { to: "shop", paused: "true" })),
  {},
  [
    "paused the source is not paused: secretcast.io/paused is true: its copies stay as they are",
    "$ kubectl annotate secret -n shared one secretcast.io/paused-",
  ],
);

expectPlace(
  "a copy that is to be made, of a source that is paused",
  () => cluster({ to: "*", paused: "true" }),
  {},
  [
    "paused the source is not paused: secretcast.io/paused is true: its copies stay as they are",
    "$ kubectl annotate secret -n shared one secretcast.io/paused-",
  ],
);

expectPlace(
  "a copy whose source is being deleted",
  () => settled({ to: "*" }, (made) => leaving(made, "shared/one")),
  {},
  [
    "frozen what is to be there is known: source shared/one is being deleted, which waits for the finalizer example.com/hold",
  ],
);

expectPlace(
  "a copy whose source's namespace is being deleted",
  () =>
    settled({ to: "*" }, (made) => {
      made.namespace("shared").status.phase = "Terminating";
    }),
  {},
  ["frozen what is to be there is known: namespace shared of source shared/one is being deleted"],
);

expectPlace(
  "a copy whose source is in no source namespace any more",
  () => settled({ to: "*" }, (made) => configure(made, { sourceNamespaces: globs("other") })),
  {},
  [
    "frozen what is to be there is known: source shared/one is not in a source namespace (--source-namespaces)",
    "$ put it into a source namespace, or name it in the source list",
  ],
);

expectPlace(
  "a copy in a namespace that is excluded by now",
  () => settled({ to: "*" }, (made) => configure(made, { excludeNamespaces: globs("team-a") })),
  {},
  [
    "frozen what is to be there is known: the namespace is excluded (--exclude-namespaces)",
    "$ start the controller without team-a in --exclude-namespaces",
  ],
);

expectPlace(
  "a copy that a newer version made",
  () => settled({ to: "*" }, (made) => made.annotate("team-a/one", { future: "x" })),
  {},
  [
    "frozen what is to be there is known: it carries secretcast.io/future, which this version does not know: a newer one made it",
    "$ run the newer version, or let it be made anew: kubectl delete secret -n team-a one",
  ],
);

expectPlace(
  "a copy that nobody wants, within its grace",
  () => settled({ to: "*" }, (made) => made.annotate("shared/one", { to: "shop" })),
  {},
  [
    "delete secretcast.io/to names it: it does not match secretcast.io/to: shop",
    "$ kubectl annotate secret -n shared one --overwrite secretcast.io/to=shop,team-a",
  ],
);

expectPlace(
  "a copy that nobody wants, about which the API server is asked",
  () => overdue((made) => made.annotate("shared/one", { to: "shop" })),
  {},
  [
    "delete secretcast.io/to names it: it does not match secretcast.io/to: shop",
    "$ kubectl annotate secret -n shared one --overwrite secretcast.io/to=shop,team-a",
  ],
);

expectPlace("a copy that nobody wants, whose source cannot be read live", () => unreadable(), {}, [
  "frozen what is to be there is known: source shared/one no longer wants this place, but source shared/one cannot be read: no right to get secrets",
  "$ secretcast check: it names the right that is missing",
]);

expectPlace(
  "a copy that ends now",
  () => due((made) => made.annotate("shared/one", { to: "shop" })),
  {},
  [
    "delete secretcast.io/to names it: it does not match secretcast.io/to: shop",
    "$ kubectl annotate secret -n shared one --overwrite secretcast.io/to=shop,team-a",
  ],
);

expectPlace(
  "a copy that is released now",
  () => due((made) => made.annotate("shared/one", { to: "shop", "on-delete": "keep" })),
  {},
  [
    "release secretcast.io/to names it: it does not match secretcast.io/to: shop",
    "$ kubectl annotate secret -n shared one --overwrite secretcast.io/to=shop,team-a",
  ],
);

expectPlace(
  "a copy that its namespace does not accept any more",
  () => due((made) => void made.namespace("team-a", { accept: "false" })),
  {},
  [
    "delete the namespace accepts it: its secretcast.io/accept is false",
    "$ kubectl annotate namespace team-a --overwrite secretcast.io/accept=shared/one",
  ],
);

expectPlace(
  "a copy of a former name",
  () => settled({ to: "team-a" }, (made) => made.annotate("shared/one", { name: "two" })),
  { subject: "team-a/one" },
  [
    "delete its copies have this name: its copies are now called two and no longer one",
    "$ kubectl annotate secret -n shared one --overwrite secretcast.io/name=one",
  ],
);

expectPlace(
  "a copy whose source is gone",
  () => settled({ to: "*" }, (made) => made.delete("shared/one")),
  {},
  [
    "delete it exists: there is no Secret shared/one",
    "$ kubectl get secret -A --field-selector metadata.name=one",
  ],
);

expectPlace(
  "a copy whose source asks for nothing any more",
  () => settled({ to: "*" }, (made) => void made.secret("shared/one")),
  {},
  [
    "delete it asks for copies: it carries neither secretcast.io/to nor secretcast.io/to-selector",
    "$ kubectl annotate secret -n shared one --overwrite secretcast.io/to=NAMESPACES",
  ],
);

expectPlace("copies of which an edit would leave none", () => heldDeletes(), {}, [
  "held the copy stays: source shared/one no longer wants this place; held, because the source lost 2 namespaces within 5m and still wants 0; up to two at a time, and fewer than are left, need no hold",
  "$ kubectl annotate secret -n shared one --overwrite secretcast.io/to=other,team-a",
]);

expectPlace("creates above the fan-out limit", () => configured({ fanoutLimitBytes: 10 }), {}, [
  "held it is within the limits: 1 places need 705 bytes, more than 10 (--fanout-limit)",
  "$ name fewer namespaces, make it smaller, or start the controller with a larger --fanout-limit",
]);

expectPlace(
  "a copy that is being deleted by somebody",
  () => settled({ to: "*" }, (made) => leaving(made, "team-a/one")),
  {},
  [
    "wait nothing is waited for: its deletion waits for the finalizer example.com/hold; the copy is made again afterwards",
  ],
);

expectPlace("a write that failed", () => failed("quota"), {}, [
  "backoff the last write was taken: quota secrets would be exceeded",
  `$ Raise secrets in the quota, or exclude the namespace in secretcast.io/to of the source. Then try again at once: kubectl annotate secret -n shared one --overwrite retried-at="$(date)"`,
]);

expectPlace("a copy that somebody changes all the time", () => fought(), {}, [
  "backoff the last write was taken: repaired again and again: another client keeps changing it",
  String.raw`$ find the other client, and stop it or take the place out of the source's targets: kubectl get secret -n team-a one --show-managed-fields -o jsonpath='{range .metadata.managedFields[*]}{.time} {.manager}{"\n"}{end}'`,
]);

expectPlace(
  "a copy that a client with a name changes all the time",
  () => {
    const made = fought();
    made.edit("team-a/one", ({ metadata }) => {
      const managedFields = [
        { manager: "secretcast", time: "2026-01-01T00:00:00Z" },
        { manager: "argocd-controller", time: "2026-01-01T00:00:01Z" },
      ];
      Object.assign(metadata, { managedFields });
    });
    return made;
  },
  {},
  [
    "backoff the last write was taken: repaired again and again: another client keeps changing it",
    String.raw`$ find the other client (field manager "argocd-controller"), and stop it or take the place out of the source's targets: kubectl get secret -n team-a one --show-managed-fields -o jsonpath='{range .metadata.managedFields[*]}{.time} {.manager}{"\n"}{end}'`,
  ],
);

expectPlace(
  "a pulling Secret that has all",
  () => pulled({ allow: "team-*" }),
  { subject: "team-a/mine" },
  ["current what is there: the copy is what it should be"],
);

expectPlace(
  "a pulling Secret of another type than its source",
  () => {
    const made = pulled({ allow: "team-*" });
    made.edit("team-a/mine", (pull) => {
      pull.type = "example.com/special";
    });
    made.settle();
    return made;
  },
  { subject: "team-a/mine" },
  ["conflict its entries can be filled in: its type is example.com/special: expected Opaque"],
);

expectPlace(
  "a pulling Secret whose source does not allow it",
  () => pulling({ allow: "shop" }),
  { subject: "team-a/mine" },
  [
    "conflict its entries can be filled in: there is no source shared/one, or it does not allow this namespace",
    "$ kubectl annotate secret -n shared one --overwrite secretcast.io/allow=shop,team-a",
  ],
);

expectPlace(
  "a pulling Secret whose source allows nobody",
  () => pulling({ to: "shop" }),
  { subject: "team-a/mine" },
  [
    "conflict its entries can be filled in: there is no source shared/one, or it does not allow this namespace",
    "$ kubectl annotate secret -n shared one --overwrite secretcast.io/allow=team-a",
  ],
);

expectPlace(
  "a pulling Secret whose source is not there",
  () => pulling({ to: "shop" }, { from: "shared/none" }),
  { subject: "team-a/mine" },
  [
    "conflict its entries can be filled in: there is no source shared/none, or it does not allow this namespace",
    "$ kubectl get secret -A --field-selector metadata.name=none",
  ],
);

expectPlace(
  "a pulling Secret whose source is no source",
  () => pulling({}),
  { subject: "team-a/mine" },
  [
    "conflict its entries can be filled in: there is no source shared/one, or it does not allow this namespace",
    "$ kubectl annotate secret -n shared one --overwrite secretcast.io/allow=team-a",
  ],
);

expectPlace(
  "a pulling Secret whose source is paused",
  () => pulling({ allow: "*", paused: "true" }),
  { subject: "team-a/mine" },
  [
    "paused the source is not paused: secretcast.io/paused is true: its copies stay as they are",
    "$ kubectl annotate secret -n shared one secretcast.io/paused-",
  ],
);

expectPlace(
  "a pulling Secret that cannot be understood",
  () => pulling({ allow: "*" }, { from: "one" }),
  { subject: "team-a/mine" },
  [
    'frozen what is to be there is known: invalid secretcast.io/from: "one": expected NAMESPACE/NAME of a source',
    "$ kubectl annotate secret -n team-a mine --overwrite secretcast.io/from=VALUE",
  ],
);

expectPlace(
  "a pulling Secret that is to be filled",
  () => pulling({ allow: "*" }),
  { subject: "team-a/mine" },
  ["update what is there: its entries are not the source's, as far as is known"],
);

expectPlace(
  "a pulling Secret that is to be emptied",
  () => pulled({ allow: "team-*" }, (made) => made.annotate("shared/one", { allow: "shop" })),
  { subject: "team-a/mine" },
  [
    "release secretcast.io/allow names it: it does not match secretcast.io/allow: shop",
    "$ kubectl annotate secret -n shared one --overwrite secretcast.io/allow=shop,team-a",
  ],
);

expectPlace(
  "a pulling Secret in an excluded namespace",
  () =>
    pulled({ allow: "team-*" }, (made) => configure(made, { excludeNamespaces: globs("team-a") })),
  { subject: "team-a/mine" },
  [
    "frozen what is to be there is known: the namespace is excluded (--exclude-namespaces)",
    "$ start the controller without team-a in --exclude-namespaces",
  ],
);

expectPlace("a pulling Secret, asked of its source", () => pulling({ allow: "shop" }), {}, [
  "conflict its entries can be filled in: there is no source shared/one, or it does not allow this namespace",
  "$ kubectl annotate secret -n shared one --overwrite secretcast.io/allow=shop,team-a",
]);

test("every verdict is among the texts above", () => {
  assert.deepEqual([...shown].toSorted(), [...VERDICTS].toSorted());
});

test("every cause of a failed write says what to do", () => {
  assert.deepEqual(Object.keys(WHAT_TO_DO).toSorted(), Object.keys(FAILURE_CAUSES).toSorted());
});
