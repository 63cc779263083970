// The finite domains that are explored until nothing new is found: who is there, and what may happen.
import * as on from "./events.ts";
import type { Event } from "./run.ts";
import type { Objects } from "./server.ts";
import type { Settings } from "./subject.ts";
import { oneByOne, twoByTwo, type World } from "./worlds.ts";

export type Domain = {
  readonly name: string;
  readonly settings: Settings;
  readonly start: () => Objects;
  /** In place of one start: what the events of these lead to is judged, and not taken further. */
  readonly worlds?: () => Iterable<World>;
  /** By name, as histories have them. */
  readonly events: Readonly<Record<string, Event>>;
  /** Counts that are 0 by the choice of its events. */
  readonly never?: readonly string[];
  /** The disturbances of each transition. */
  /** It takes an hour, and is explored where it is asked for. */
  readonly apart?: true;
  readonly disturbed: { readonly requests?: true; readonly second?: true; readonly unseen?: true };
};

const PLAIN: Settings = { kind: "Secret", policy: "opt-out", sourceNamespaces: "shared,shared-2" };
const SOURCE = "Secret shared/one";
const PLACE = "Secret team-a/one";

const world = (): Objects =>
  on.clusterOf(
    on.namespace("secretcast"),
    on.namespace("shared"),
    on.namespace("team-a", {}, { tier: "gold" }),
  );

const SOURCE_EVENTS = {
  create: on.creates(SOURCE, { annotations: { to: "*" } }),
  "create other type": on.creates(SOURCE, { annotations: { to: "*" }, type: "example.com/x" }),
  "create immutable": on.creates(SOURCE, { annotations: { to: "*" }, immutable: true }),
  rotate: on.rotates(SOURCE),
  narrow: on.says(SOURCE, { to: "team-z" }),
  "narrow on purpose": on.says(SOURCE, { to: "!*" }),
  widen: on.says(SOURCE, { to: "*" }),
  rename: on.says(SOURCE, { name: "two" }),
  "rename back": on.says(SOURCE, { name: "" }),
  pause: on.says(SOURCE, { paused: "true" }),
  resume: on.says(SOURCE, { paused: "" }),
  break: on.says(SOURCE, { "to-selecter": "x=y" }),
  mend: on.says(SOURCE, { "to-selecter": "" }),
  strip: on.says(SOURCE, { to: "", name: "", paused: "", "on-delete": "", "to-selecter": "" }),
  keep: on.says(SOURCE, { "on-delete": "keep" }),
  "do not keep": on.says(SOURCE, { "on-delete": "" }),
  delete: on.deletes(SOURCE),
};

const NAMESPACE_EVENTS = {
  "accept true": on.says("team-a", { accept: "true" }),
  "accept false": on.says("team-a", { accept: "false" }),
  "accept glob": on.says("team-a", { accept: "shared/*" }),
  "accept invalid": on.says("team-a", { accept: "maybe" }),
  "accept absent": on.says("team-a", { accept: "" }),
  "namespace ends": on.ends("team-a"),
  "namespace goes": on.goes("team-a"),
  "namespace comes": on.comes("team-a", {}, { tier: "gold" }),
};

const COPY_EVENTS = {
  "copy edited": on.ifCopy(
    PLACE,
    on.edits(PLACE, () => ({ data: { key: "edited" } })),
  ),
  "copy deleted": on.deletes(PLACE),
  "copy stripped": on.ifCopy(PLACE, on.says(PLACE, { "placed-at": "" })),
  "copy forged": on.forges(PLACE, "shared/ghost", "forged"),
  "copy replaced": on.ifCopy(PLACE, on.replacesBy(PLACE, { data: { own: "value" } })),
  "copy opened": on.ifUnmanaged(PLACE, on.says(PLACE, { adopt: "shared/one" })),
};

const some = <K extends string>(events: Readonly<Record<K, Event>>, ...names: readonly K[]) =>
  Object.fromEntries(names.map((name) => [name, events[name]]));

const worldWithApps = (): Objects => new Map([...world(), ...on.clusterOf(on.namespace("apps"))]);
const ENTRY = { secret: "apps/made", to: "*" };
const LISTED = "Secret apps/made";
const LISTED_PLACE = "Secret team-a/made";
const LIST_EVENTS = {
  "list entry": on.lists({ one: ENTRY, other: { secret: "apps/other", to: "*" } }),
  "list entry keeps": on.lists({
    one: { ...ENTRY, "on-delete": "keep" },
    other: { secret: "apps/other", to: "*" },
  }),
  "list entry removed": on.lists({ other: { secret: "apps/other", to: "*" } }),
  "list entry invalid": on.lists({ one: "[", other: { secret: "apps/other", to: "*" } }),
  "list emptied": on.lists({}),
  "list deleted": on.lists(undefined),
  "object created": on.creates(LISTED, {}),
  "object rotated": on.rotates(LISTED),
  "object deleted": on.deletes(LISTED),
  "copy of it edited": on.ifCopy(
    LISTED_PLACE,
    on.edits(LISTED_PLACE, () => ({ data: { key: "edited" } })),
  ),
};

const LABEL_EVENTS = {
  "create by selector": on.creates(SOURCE, { annotations: { "to-selector": "tier=gold" } }),
  rotate: on.rotates(SOURCE),
  "label changed": on.labels("team-a", { tier: "tin" }),
  "label back": on.labels("team-a", { tier: "gold" }),
};

const EVENTS_OF_ONE = {
  ...SOURCE_EVENTS,
  ...NAMESPACE_EVENTS,
  ...COPY_EVENTS,
  ...some(LABEL_EVENTS, "create by selector", "label changed", "label back"),
};

const MAP = "ConfigMap shared/one";
const MAP_PLACE = "ConfigMap team-a/one";
const MAP_EVENTS = {
  create: on.creates(MAP, { annotations: { to: "*" } }),
  "create immutable": on.creates(MAP, { annotations: { to: "*" }, immutable: true }),
  rotate: on.rotates(MAP),
  "narrow on purpose": on.says(MAP, { to: "!*" }),
  delete: on.deletes(MAP),
  "copy edited": on.ifCopy(
    MAP_PLACE,
    on.edits(MAP_PLACE, () => ({ data: { key: "edited" } })),
  ),
  "copy deleted": on.deletes(MAP_PLACE),
};

const OTHER = "Secret shared-2/one";
const TWO_EVENTS = {
  create: on.creates(SOURCE, { annotations: { to: "team-*" } }),
  "narrow on purpose": on.says(SOURCE, { to: "!*" }),
  widen: on.says(SOURCE, { to: "team-*" }),
  delete: on.deletes(SOURCE),
  "other created": on.creates(OTHER, { annotations: { to: "team-*" }, data: { key: "other" } }),
  "other deleted": on.deletes(OTHER),
};

const PULLING = "Secret team-a/mine";
const PULL_EVENTS = {
  "offer created": on.creates(SOURCE, { annotations: { allow: "*" } }),
  "offer rotated": on.rotates(SOURCE),
  "offered to nobody": on.says(SOURCE, { allow: "!*" }),
  "offered again": on.says(SOURCE, { allow: "*" }),
  "offer deleted": on.deletes(SOURCE),
  "pulling object created": on.creates(PULLING, { annotations: { from: "shared/one" }, data: {} }),
  "filled by hand": on.edits(PULLING, () => ({ data: { key: "own", more: "own" } })),
  "emptied by hand": on.edits(PULLING, () => ({ data: {} })),
  "to be kept": on.says(PULLING, { "on-delete": "keep" }),
  "restored from elsewhere": on.creates(PULLING, {
    annotations: {
      from: "shared/one",
      "source-uid": "u",
      "source-version": "1",
      "placed-at": "other/mine",
    },
    data: { key: "old" },
  }),
  "from taken off": on.says(PULLING, { from: "" }),
  "from put back": on.says(PULLING, { from: "shared/one" }),
  "pulling object deleted": on.deletes(PULLING),
};

const all = { requests: true, second: true, unseen: true } as const;

/** A source with copies in so many namespaces, which loses some of them. */
const several = (count: number): Objects =>
  on.clusterOf(
    on.namespace("secretcast"),
    on.namespace("shared"),
    ...["a", "b", "c", "d", "e", "f", "g"]
      .slice(0, count)
      .map((letter) => on.namespace(`team-${letter}`)),
  );

const LOSS_EVENTS = {
  create: on.creates(SOURCE, { annotations: { to: "team-*" } }),
  "lose one": on.says(SOURCE, { to: "team-*,!team-a" }),
  "lose two": on.says(SOURCE, { to: "team-*,!team-a,!team-b" }),
  "lose three": on.says(SOURCE, { to: "team-*,!team-a,!team-b,!team-c" }),
  "win back": on.says(SOURCE, { to: "team-*" }),
  delete: on.deletes(SOURCE),
  "create for less": on.creates(SOURCE, { annotations: { to: "team-*,!team-a" } }),
  "one declines": on.says("team-b", { accept: "false" }),
  "one accepts": on.says("team-b", { accept: "" }),
  "one takes others": on.says("team-c", { accept: "other/*" }),
};

export const DOMAINS: readonly Domain[] = [
  {
    name: "losses of three",
    settings: PLAIN,
    start: () => several(3),
    events: some(
      LOSS_EVENTS,
      "create",
      "lose one",
      "lose two",
      "win back",
      "one declines",
      "one accepts",
    ),
    disturbed: { requests: true },
  },
  {
    name: "losses by deletes",
    settings: PLAIN,
    start: () => several(3),
    events: some(LOSS_EVENTS, "create", "create for less", "lose one", "delete"),
    disturbed: { requests: true },
  },
  {
    name: "losses of four",
    settings: PLAIN,
    start: () => several(4),
    events: some(LOSS_EVENTS, "create", "lose two", "win back", "one declines", "one accepts"),
    disturbed: { requests: true },
  },
  {
    name: "losses of five",
    settings: PLAIN,
    start: () => several(5),
    events: some(LOSS_EVENTS, "create", "lose two", "lose three", "win back", "one takes others"),
    disturbed: { requests: true },
  },
  {
    name: "losses of seven",
    settings: PLAIN,
    start: () => several(7),
    events: some(LOSS_EVENTS, "create", "lose two", "lose three", "win back"),
    disturbed: { requests: true },
  },
  {
    name: "waits",
    settings: PLAIN,
    start: world,
    events: {
      ...some(SOURCE_EVENTS, "create", "narrow", "widen", "delete"),
      ...some(NAMESPACE_EVENTS, "accept false", "accept absent"),
    },
    disturbed: all,
  },
  {
    name: "copies",
    settings: PLAIN,
    start: world,
    events: { ...some(SOURCE_EVENTS, "create", "rotate"), ...COPY_EVENTS },
    disturbed: all,
  },
  {
    name: "keeps",
    settings: PLAIN,
    start: world,
    events: some(SOURCE_EVENTS, "create", "keep", "do not keep", "narrow on purpose", "strip"),
    disturbed: { requests: true, unseen: true },
  },
  {
    name: "source",
    settings: PLAIN,
    start: world,
    events: some(
      SOURCE_EVENTS,
      ...(["create", "create immutable", "rotate", "rename", "rename back"] as const),
      ...(["pause", "resume", "break", "mend"] as const),
    ),
    disturbed: { requests: true },
  },
  {
    name: "labels",
    settings: PLAIN,
    start: world,
    events: LABEL_EVENTS,
    disturbed: all,
  },
  {
    name: "opt in",
    settings: { ...PLAIN, policy: "opt-in" },
    start: world,
    events: {
      ...some(SOURCE_EVENTS, "create", "rotate", "delete"),
      ...some(NAMESPACE_EVENTS, "accept true", "accept false", "accept glob", "accept absent"),
    },
    disturbed: { requests: true, unseen: true },
  },
  {
    name: "names",
    settings: { ...PLAIN, onlyNames: ["one"] },
    start: world,
    events: {
      ...some(SOURCE_EVENTS, "create", "rotate", "narrow on purpose", "delete"),
      ...some(COPY_EVENTS, "copy edited", "copy deleted"),
    },
    disturbed: { requests: true, unseen: true },
  },
  {
    name: "two names",
    settings: { ...PLAIN, onlyNames: ["one", "two"] },
    start: world,
    events: {
      ...some(SOURCE_EVENTS, "create", "rename", "rename back", "rotate", "delete"),
      ...some(COPY_EVENTS, "copy deleted"),
      "other created": on.creates("Secret shared/two", { annotations: { to: "*" } }),
      "other deleted": on.deletes("Secret shared/two"),
    },
    disturbed: { requests: true },
  },
  {
    name: "config maps",
    settings: { ...PLAIN, kind: "ConfigMap" },
    start: world,
    events: MAP_EVENTS,
    disturbed: { requests: true },
  },
  {
    name: "namespaces",
    settings: PLAIN,
    start: world,
    events: {
      ...some(SOURCE_EVENTS, "create", "rotate"),
      ...some(NAMESPACE_EVENTS, "namespace ends", "namespace goes", "namespace comes"),
      ...some(NAMESPACE_EVENTS, "accept invalid", "accept absent"),
    },
    never: ["removals"],
    disturbed: all,
  },
  {
    name: "two sources",
    settings: PLAIN,
    start: () => new Map([...world(), ...on.clusterOf(on.namespace("shared-2"))]),
    events: TWO_EVENTS,
    disturbed: { requests: true },
  },
  {
    name: "pulls",
    settings: PLAIN,
    start: world,
    events: PULL_EVENTS,
    disturbed: { requests: true },
  },
  {
    name: "list",
    settings: PLAIN,
    start: worldWithApps,
    events: some(
      LIST_EVENTS,
      ...(["list entry", "list entry removed", "list entry invalid", "list deleted"] as const),
      ...(["object created", "object rotated", "object deleted"] as const),
    ),
    disturbed: { requests: true },
  },
  {
    name: "kept by the list",
    settings: PLAIN,
    start: worldWithApps,
    events: some(
      LIST_EVENTS,
      ...(["list entry", "list entry keeps", "list entry removed", "list emptied"] as const),
      ...(["object created", "object rotated", "copy of it edited"] as const),
    ),
    disturbed: { requests: true },
  },
  {
    name: "two by two",
    settings: PLAIN,
    start: () =>
      new Map([...world(), ...on.clusterOf(on.namespace("shared-2"), on.namespace("team-b"))]),
    events: {
      ...some(TWO_EVENTS, "create", "delete", "other created", "other deleted"),
      "one declines": on.says("team-b", { accept: "false" }),
      "one accepts": on.says("team-b", { accept: "" }),
    },
    disturbed: { requests: true, unseen: true },
  },
  {
    name: "one by one",
    settings: PLAIN,
    start: world,
    worlds: () => oneByOne("Secret"),
    events: EVENTS_OF_ONE,
    disturbed: { requests: true, second: true },
  },
  {
    name: "one by one, opt in",
    settings: { ...PLAIN, policy: "opt-in" },
    start: world,
    worlds: () => oneByOne("Secret"),
    events: EVENTS_OF_ONE,
    disturbed: { requests: true },
  },
  {
    name: "one map by one",
    settings: { ...PLAIN, kind: "ConfigMap" },
    start: world,
    worlds: () => oneByOne("ConfigMap"),
    events: MAP_EVENTS,
    disturbed: { requests: true },
  },
  {
    name: "two by two worlds",
    settings: PLAIN,
    start: world,
    worlds: () => twoByTwo("Secret"),
    events: {},
    disturbed: {},
    apart: true,
  },
];
