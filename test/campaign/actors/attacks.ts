// Everything that the tenant's account can write, as attacks of a few seconds each with a bound. They
// leave what they wrote where it is; Tenant.wipe ends it when it has become much.
import { flapping, instead, made, marked, NOBODY, says, sourceUid } from "./attack.ts";
import type { Attack } from "./tenant.ts";
import {
  collidingNames,
  longList,
  longName,
  longSelector,
  manyKeys,
  nastyGlobs,
  NONSENSE,
  renames,
} from "./worst-texts.ts";

const REGISTRY = "secretcast/registry";
const CONSENTED = "secretcast/consented";
const NOWHERE = "nowhere/nothing";
const COPIES = ["registry", "tls"] as const;
const copyAt = (at: number): string => COPIES[at % 2] ?? "tls";
const one = <T>(at: number, of: readonly [T, ...T[]]): T => of[at % of.length] ?? of[0];
const MANY = 101;
const UNKNOWN = { "unheard-of": "x" };

/** On places: on the copies in the tenant's namespaces, and by Secrets that look like copies. */
const PLACE_ATTACKS: Readonly<Record<string, Attack>> = {
  "forged copies": made(40, "forged", ({ at, home, name, uid }) => {
    const source = one(at, [REGISTRY, CONSENTED, NOWHERE]);
    const body = marked(home, name, source, at % 2 === 0 ? uid : NOBODY);
    return at % 5 === 0 ? says({ "on-delete": "keep" }, body) : body;
  }),
  "one forged copy of a source that never was": made(1, "forged-alone", ({ home, name }) =>
    marked(home, name, `secretcast/${name}`, NOBODY),
  ),
  "forged copies of a living source, many": made(MANY, "unwanted", ({ home, name, uid }) =>
    marked(home, name, REGISTRY, uid),
  ),
  "forged copies whose names collide under an unkeyed hash": async (tenant) => {
    const home = tenant.home();
    for (const name of collidingNames(tenant.name("crafted"), 100))
      await tenant.create(home, name, says(UNKNOWN, marked(home, name, REGISTRY, NOBODY)));
  },
  "owners that do not exist put on copies": (tenant) =>
    tenant.many(4, (at) => {
      const owner = { apiVersion: "v1", kind: "ConfigMap", name: "nobody", uid: NOBODY };
      return tenant.change(tenant.home(), copyAt(at), { metadata: { ownerReferences: [owner] } });
    }),
  "forged copies of the wrong place": made(20, "elsewhere", ({ at, home, name, uid }) => {
    const wrong = one<Readonly<Record<string, string>>>(at, [
      { "placed-at": "honest-0/registry" },
      UNKNOWN,
      { from: CONSENTED },
      { source: `${home}/own` },
      { "source-uid": "" },
    ]);
    return says(wrong, marked(home, at % 2 === 0 ? name : "registry", REGISTRY, uid));
  }),
  "heavy forged copies": made(40, "forged-heavy", ({ tenant, home, name }) => {
    return { ...marked(home, name, REGISTRY, NOBODY), data: { own: tenant.value(1_000_000) } };
  }),
  "marks stripped": (tenant) =>
    tenant.many(4, (at) => {
      const mark = one(at, ["source", "source-uid", "placed-at", "source-version"]);
      return tenant.change(tenant.home(), copyAt(at), says({ [mark]: null }));
    }),
  "adopt with nonsense": async (tenant) => {
    const home = tenant.home();
    for (const adopt of NONSENSE.slice(0, 8)) {
      await tenant.remove(home, "registry");
      await tenant.create(home, "registry", says({ adopt }));
      const labelled = says({ adopt }, { metadata: { labels: { x: "y" } } });
      await tenant.change(home, "registry", labelled);
    }
    await made(NONSENSE.length, "adopt", ({ at }) => says({ adopt: one(at, NONSENSE) }))(tenant);
  },
  "a Helm release in the way": instead("registry", { type: "helm.sh/release.v1" }),
  "names of Helm releases": made(20, "sh.helm.release.v1.app.v", () =>
    says({ to: "*" }, { type: "helm.sh/release.v1" }),
  ),
  "an account's token in the way": instead("tls", {
    type: "kubernetes.io/service-account-token",
    metadata: { annotations: { "kubernetes.io/service-account.name": "default" } },
  }),
  "an immutable stranger in the way": instead("tls", { immutable: true }),
  "an immutable copy of the wrong type": async (tenant) => {
    const home = tenant.home();
    const body = marked(home, "registry", REGISTRY, await sourceUid(tenant));
    for (let tries = 0; tries < 5; tries++) {
      await tenant.remove(home, "registry");
      await tenant.create(home, "registry", { ...body, type: "example.com/x", immutable: true });
    }
  },
  "finalizers on copies": async (tenant) => {
    const home = tenant.home();
    for (const name of COPIES) {
      await tenant.change(home, name, { metadata: { finalizers: ["example.com/never"] } });
      await tenant.remove(home, name);
    }
    await tenant.loop(4, 2, (at) =>
      tenant.change(home, "registry", { metadata: { labels: { turn: String(at) } } }),
    );
    await tenant.change(home, "registry", { metadata: { finalizers: null } });
  },
  "copies edited in a loop": (tenant) => {
    const home = tenant.home();
    return tenant.loop(20, 3, (at) =>
      tenant.change(home, copyAt(at), { data: { own: tenant.value() } }),
    );
  },
  "copies deleted in a loop": (tenant) => {
    const home = tenant.home();
    return tenant.loop(20, 3, (at) => tenant.remove(home, copyAt(at)));
  },
  "a forged copy rewritten faster than it is deleted": flapping(
    "forged-busy",
    ({ home, name }) => marked(home, name, "nowhere/x", NOBODY),
    (at) => ({ metadata: { labels: { turn: String(at) } } }),
  ),
  "annotations and labels that flap": flapping(
    "flapping",
    () => ({}),
    (at, { home, name }) =>
      one(at, [
        marked(home, name, REGISTRY, NOBODY),
        says({ "source-uid": null, to: "*" }),
        says({ from: CONSENTED }),
        says({ from: null, to: null }),
        { metadata: { labels: { "app.kubernetes.io/managed-by": null } } },
      ]),
  ),
  "Secrets made and deleted twenty times a second": (tenant) => {
    const home = tenant.home();
    return tenant.loop(20, 3, async (at) => {
      const name = longName(`churn-${at % 10}`);
      await tenant.create(home, name, at % 2 === 0 ? marked(home, name, "a/b", NOBODY) : {});
      await tenant.remove(home, name);
    });
  },
  "strangers of every size": made(60, "stranger", ({ at, tenant }) =>
    at % 6 === 0 ? { data: { own: tenant.value(1_000_000) } } : {},
  ),
  "everything deleted": (tenant) => tenant.wipe(true),
};

/** By way of pulling: what a Secret with `from` may hold and ask for. */
const PULL_ATTACKS: Readonly<Record<string, Attack>> = {
  "renames that blow up": made(5, "pull-blown", () =>
    says({ from: CONSENTED, keys: renames("ca.crt", 1000) }),
  ),
  "ten thousand renames": made(8, "pull-renamed", () =>
    says({ from: CONSENTED, keys: renames("small", 18_000) }),
  ),
  "globs without an end": made(20, "pull-globs", ({ at }) =>
    says({ from: "secretcast/many", keys: nastyGlobs(at % 2 === 0 ? 99 : 1000, at % 3 === 0) }),
  ),
  "forged records, many": made(MANY, "pull-forged", ({ at, home, name }) =>
    says({
      from: one(at, [REGISTRY, "secretcast/payroll", NOWHERE]),
      "source-version": "1",
      "placed-at": `${home}/${name}`,
      "source-uid": NOBODY,
      ...(at % 2 === 0 && { entry: "payroll" }),
    }),
  ),
  "marks as long as may be": made(60, "pull-long", ({ at }) =>
    says({ from: one(at, [NOWHERE, CONSENTED]), "placed-at": longList(255_000) }),
  ),
  "heavy pulling Secrets": made(60, "pull-heavy", ({ at, tenant }) =>
    says(
      { from: at % 3 === 0 ? CONSENTED : "nowhere/no" },
      { data: { own: tenant.value(770_000) } },
    ),
  ),
  "from everywhere and nowhere": made(NONSENSE.length, "pull-nonsense", ({ at }) =>
    says({ from: one(at, NONSENSE), keys: "*" }),
  ),
  "hundreds that pull": async (tenant) => {
    const home = tenant.home();
    await tenant.many(120, (at) =>
      tenant.create(home, tenant.name(`pull-${at}`), says({ from: CONSENTED, keys: "small" })),
    );
    await tenant.loop(20, 2, (at) =>
      tenant.change(home, tenant.name(`pull-${at % 120}`), { data: { small: tenant.value() } }),
    );
  },
  "a pulling Secret that flaps": flapping(
    "pull-flapping",
    () => ({}),
    (at) =>
      says({
        from: at % 2 === 0 ? CONSENTED : null,
        keys: at % 3 === 0 ? "small" : "*",
        "placed-at": at % 5 === 0 ? longList(100_000) : null,
      }),
  ),
};

/**
 * By way of publishing, which means something only where every namespace may publish. Else they are
 * annotations that the controller must pass over.
 */
const PUBLISH_ATTACKS: Readonly<Record<string, Attack>> = {
  "heavy sources for everybody": made(10, "source-heavy", ({ tenant }) =>
    says({ to: "*" }, { data: { own: tenant.value(900_000) } }),
  ),
  "sources that blow up": made(5, "source-blown", ({ tenant }) =>
    says({ to: "*", keys: renames("big", 200) }, { data: { big: tenant.value(700_000) } }),
  ),
  "sources with globs without an end": made(60, "source-globs", ({ at }) => {
    const globs = { "copy-labels": nastyGlobs(99), "copy-annotations": nastyGlobs(99) };
    const annotations = manyKeys(500);
    return says(
      { to: nastyGlobs(at % 2 === 0 ? 99 : 1500), ...globs },
      { metadata: { annotations } },
    );
  }),
  "selectors as long as may be": made(20, "source-selector", ({ at }) =>
    says({ "to-selector": longSelector(one(at, [5000, 200_000])) }),
  ),
  "lists as long as may be": made(20, "source-long", ({ at }) =>
    says({ to: `*,${longList(one(at, [60_000, 250_000]))}` }),
  ),
  "the platform's names": made(8, "source-named", ({ at }) =>
    says({ to: "*", name: one(at, ["registry", "tls", "config", "own"]) }),
  ),
  "words that mean nothing": made(10, "source-strange", ({ at }) =>
    says({ to: "*", [one(at, ["to-selecter", "allow"])]: "" }),
  ),
  "sources that flap": flapping(
    "source-flapping",
    () => says({ to: "*" }),
    (at, { tenant }) =>
      says(
        { to: at % 3 === 0 ? null : "*", name: `n${at % 5}` },
        { data: { own: tenant.value() } },
      ),
  ),
};

export const ATTACKS: Readonly<Record<string, Attack>> = {
  ...PLACE_ATTACKS,
  ...PULL_ATTACKS,
  ...PUBLISH_ATTACKS,
};
