// A run of chaos as data: what users, tenants, the network, the API server and whoever restarts the
// controller do, in order. The histories of the planner's property test are a part of it. Being data, a
// script can be drawn from a seed (draw.ts), played twice, shrunk, and kept as a test.
import type { Step } from "../../support/planner/history.ts";
import type { Flags, Texts } from "../model/raw.ts";

/** The flags that a controller may be (re)started with. */
export type FlagSet = Omit<Flags, "ownNamespace" | "list">;

export const PLAIN_FLAGS: FlagSet = {
  sourceNamespaces: "shared,shared-2",
  policy: undefined,
  exclude: "",
  includeSystem: false,
  namespaces: "",
  copyable: "",
  configMaps: false,
};

export const REQUEST_FAULTS = [
  "429",
  "500",
  "503",
  "409",
  "403",
  "slow",
  "lost",
  "hang",
  "away",
] as const;
/** `reboot`: the API server starts anew, with no history of its own. */
export const WATCH_FAULTS = ["cut", "expire", "deafen", "compact", "stale", "reboot"] as const;

export type Place = { readonly namespace: string; readonly name: string };
/** Of which kind the objects are; undefined: Secrets. */
export type OfKind = { readonly of?: "ConfigMap" | undefined };
export type UserStep = UserAction & OfKind;
type UserAction =
  | Exclude<Step, { kind: "pass" }>
  /** The data of whatever is there change. */
  | ({ readonly kind: "rotate" } & Place)
  /** One word of ours is set, or taken off. */
  | ({ readonly kind: "say"; readonly word: string; readonly value: string | null } & Place)
  /** It is applied elsewhere as it is, marks included. */
  | ({ readonly kind: "paste"; readonly to: string } & Place)
  /** Deleted and made again at once. */
  | ({ readonly kind: "again" } & Place)
  /** The source list is written so, or deleted. */
  | {
      readonly kind: "list";
      readonly entries: Texts | null;
      readonly strange: boolean;
    }
  /** The finalizers of whatever is there are taken off. */
  | ({ readonly kind: "let go" } & Place)
  /** Whatever is there gets so many more entries of so many bytes each. */
  | ({ readonly kind: "fill"; readonly entries: number; readonly bytes: number } & Place)
  /** A word of ours becomes `first` and so many more entries, which match nothing: globs, or names. */
  | ({
      readonly kind: "say much";
      readonly word: string;
      readonly first: string;
      readonly more: number;
      readonly entries: "globs" | "names";
    } & Place)
  /** The source list gets so many more entries, of objects that are not there, and `besides`. */
  | {
      readonly kind: "lengthen";
      readonly entries: number;
      readonly besides?: Texts;
    }
  /** The next version runs for a while and puts a mark of its own on every copy, or takes it off. */
  | { readonly kind: "next version"; readonly marks: boolean }
  /** A label of whatever is there is set, or taken off. */
  | ({ readonly kind: "label"; readonly key: string; readonly value: string | null } & Place)
  /** A tenant makes so many copies of a living source, with its true UID, under names that it does not want. */
  | { readonly kind: "forge many"; readonly source: string; readonly count: number };
/** What happens to network, server and processes, and time that passes. */
export type Circumstance =
  | Extract<Step, { kind: "pass" }>
  | {
      readonly kind: "requests";
      readonly fault: (typeof REQUEST_FAULTS)[number];
      readonly likelihood: number;
      readonly ms: number;
    }
  | { readonly kind: "watches"; readonly fault: (typeof WATCH_FAULTS)[number] }
  /** The wall clock of one replica jumps. */
  | { readonly kind: "jump"; readonly replica: number; readonly ms: number }
  | { readonly kind: "restart"; readonly replica: number; readonly how: "kill" | "stop" }
  /** A roll-out: all stop and start with other flags. */
  | { readonly kind: "roll out"; readonly flags: FlagSet }
  /**
   * A second release is installed, or installed again: with a source namespace of its own, and a source
   * list with these entries; null: without a list.
   */
  | {
      readonly kind: "second release";
      readonly entries: Texts | null;
    }
  /** The process is killed as soon as its next write by this method is carried out. */
  | { readonly kind: "dies after"; readonly method: "POST" | "PATCH" | "DELETE" }
  /** An annotation of an object changes without pause; for a copy nothing follows from it. */
  | ({ readonly kind: "touch"; readonly everyMs: number; readonly ms: number } & Place & OfKind)
  /** Somebody starts a run with `--once` beside a controller that is alone. */
  | { readonly kind: "once" }
  /** etcd comes back as it was so many versions ago, without a history, its versions counted on. */
  | { readonly kind: "restore"; readonly back: number }
  /** A moment, so that things overlap. */
  | { readonly kind: "moment"; readonly ms: number };

export type ChaosStep = UserStep | Circumstance;

const CIRCUMSTANCES = [
  "pass",
  "requests",
  "watches",
  "jump",
  "restart",
  "roll out",
  "once",
  "second release",
  "dies after",
  "touch",
  "restore",
  "moment",
];
export function isUsers(step: ChaosStep): step is UserStep {
  return !CIRCUMSTANCES.includes(step.kind);
}

export type Script = {
  /** Of everything random while the script is played. */
  readonly chance: number;
  readonly replicas: number;
  readonly flags: FlagSet;
  readonly graceMs: number;
  /** 0: everything waits for the grace alone. */
  readonly holdMs: number;
  readonly steps: readonly ChaosStep[];
};

/** What a script is made of that nothing needs to be otherwise. */
export const PLAIN_SCRIPT = {
  replicas: 1,
  flags: PLAIN_FLAGS,
  chance: 0,
  graceMs: 10_000,
  holdMs: 0,
} as const satisfies Omit<Script, "steps">;
