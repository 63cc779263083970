// The judges of the explorer, by the reference model: whether a write is legal for a state of the cluster,
// since when a copy is unwanted, and what is wrong at rest.
import { copyDifferences } from "../campaign/judges/differences.ts";
import { preconditionsOf, wrongForm, wrongTarget } from "../campaign/judges/request-judge.ts";
import { wrongAtRest } from "../campaign/judges/rest-judge.ts";
import { pushes, rankOf } from "../campaign/model/namespaces.ts";
import { isFrozenByList, Model } from "../campaign/model/model.ts";
import {
  dataOf,
  isBlank,
  isEnding,
  isFilled,
  isSame,
  placeOf,
  wordOf,
  wordsOn,
  type Flags,
  type Raw,
  type Source,
  type World,
} from "../campaign/model/raw.ts";
import { entriesOf, hasUnknownMark, isOurs, isPull } from "../campaign/model/standing.ts";
import type { ApiRequest } from "../../packages/kube/rest/api-client.ts";
import { LIST_SLOT, type Settings } from "./subject.ts";
import type { Objects, RawObject } from "./server.ts";

export type Found = {
  /** undefined: nothing. */
  readonly wrong?: string;
  /** It takes away a copy, or what was filled. */
  readonly removes?: true;
  /** It gives the place of a source that no longer exists to another. */
  readonly takesOver?: true;
  /** Only what it holds is wrong. */
  readonly ofContent?: boolean;
};

/** One state of the cluster, as the model sees it. */
export class Truth {
  readonly flags: Flags;
  readonly world: World & { readonly objects: ReadonlyMap<string, RawObject> };
  readonly model: Model;

  constructor(settings: Settings, objects: Objects) {
    const { kind, policy, sourceNamespaces, onlyNames } = settings;
    this.flags = {
      sourceNamespaces,
      policy,
      exclude: "",
      includeSystem: false,
      namespaces: "",
      copyable: "",
      configMaps: kind === "ConfigMap",
      ownNamespace: "secretcast",
      list: objects.get(LIST_SLOT),
    };
    const namespaces = new Map<string, RawObject>();
    const places = new Map<string, RawObject>();
    for (const [slot, raw] of objects) {
      const [of = "", place] = slot.split(" ");
      if (place === undefined) namespaces.set(of, raw);
      else if (of === kind && (onlyNames?.includes(raw.metadata.name) ?? true))
        places.set(place, raw);
    }
    this.world = { kind, namespaces, objects: places };
    this.model = new Model(this.world, this.flags);
  }

  get wrongAtRest(): readonly string[] {
    return wrongAtRest(this.world, this.flags);
  }

  /** Sources that want one place, of which more than the one whose copy is current there has no row. */
  wantedWithoutRow(rows: ReadonlyMap<string, ReadonlySet<string>>): string | undefined {
    const { sources } = this.model;
    if (sources.length < 2) return undefined;
    for (const [name, namespace] of this.world.namespaces) {
      if (isEnding(namespace)) continue;
      const wanting = sources.filter((source) => pushes(source, namespace, this.flags));
      for (const [copyName, group] of Map.groupBy(wanting, (source) => source.copyName)) {
        const slot = `${this.world.kind} ${name}/${copyName}`;
        const silent = group.filter(({ raw }) => rows.get(slot)?.has(placeOf(raw)) !== true);
        if (silent.length > 1)
          return `${slot}: no row for ${silent.map(({ raw }) => placeOf(raw)).join(" and ")}`;
      }
    }
    return undefined;
  }

  /** A copy that is to be removed, or a filled pulling object that is to be cleared. */
  isUnwanted(raw: Raw): boolean {
    const namespace = this.world.namespaces.get(raw.metadata.namespace ?? "");
    if (!namespace) return false;
    if (isPull(raw)) {
      const rest = this.model.pulledAt(namespace, raw);
      const isOver = rest === "its owner's" || Object.keys(rest).length === 0;
      return isFilled(raw) && isOver;
    }
    if (!isOurs(raw)) return false;
    const rest = this.model.restAt(namespace, raw.metadata.name);
    if (typeof rest === "string") return true;
    // A place stays its source's for the whole wait, even if another source of its rank wants it, paused or not.
    const heirs = rest.length > 0 ? rest : this.#pausedHeirs(namespace, raw);
    return this.#isGone(raw) && heirs.some(({ rank }) => rank >= this.#rankOf(raw));
  }

  #pausedHeirs(namespace: Raw, copy: Raw): readonly Source[] {
    if (hasUnknownMark(copy) || isEnding(copy) || isFrozenByList(copy, this.flags)) return [];
    return this.model.sources.filter(
      (source) =>
        source.paused &&
        source.copyName === copy.metadata.name &&
        pushes(source, namespace, this.flags),
    );
  }

  /** A stronger source wants the place, and until it has it, the source that the copy names is served. */
  #isServedMeanwhile(home: Raw, before: Raw, after: Raw): boolean {
    const named = wordOf(before, "source");
    const holder = this.model.sources.find(({ raw }) => placeOf(raw) === named);
    return (
      holder !== undefined &&
      holder.copyName === before.metadata.name &&
      !holder.paused &&
      pushes(holder, home, this.flags) &&
      copyDifferences(after, holder).length === 0
    );
  }

  /** Its source no longer exists, and no other took its name. */
  #isGone(copy: Raw): boolean {
    const named = wordOf(copy, "source") ?? "";
    const there = this.world.objects.get(named);
    if (!there || there.metadata.uid === wordOf(copy, "source-uid")) return !there;
    return !this.model.sources.some(({ raw }) => placeOf(raw) === named);
  }

  #rankOf(copy: Raw): number {
    const [namespace = ""] = (wordOf(copy, "source") ?? "").split("/");
    return rankOf(namespace, this.flags);
  }

  isDeclined(raw: Raw): boolean {
    const namespace = this.world.namespaces.get(raw.metadata.namespace ?? "");
    return namespace !== undefined && wordOf(namespace, "accept") === "false" && !isPull(raw);
  }

  /** The namespace says that it accepts nothing, or the source that it is for nobody. */
  isAskedFor(raw: Raw): boolean {
    if (this.isDeclined(raw)) return true;
    const [from, to] = isPull(raw) ? (["from", "allow"] as const) : (["source", "to"] as const);
    const named = wordOf(raw, from);
    const source = this.model.sources.find((one) => placeOf(one.raw) === named);
    return source?.words[to] === "!*" && source.words[`${to}-selector`] === undefined;
  }

  /** Which unwanted copies count together: those of one source under one name. */
  lossKey(raw: Raw): string {
    return `${wordOf(raw, "source") ?? ""} ${raw.metadata.name}`;
  }

  /**
   * Whether the removal of a copy may follow after the grace: its source is valid, asks for copies, stopped wanting
   * them in at most two namespaces, and still wants more than these. `lost`: in so many.
   */
  isSmallLoss(raw: Raw, lost: number): boolean {
    const named = wordOf(raw, "source");
    const source = this.model.sources.find((one) => placeOf(one.raw) === named);
    if (!source || (source.words["to"] ?? source.words["to-selector"]) === undefined) return false;
    const left = [...this.world.namespaces.values()].filter((namespace) =>
      pushes(source, namespace, this.flags),
    ).length;
    return lost <= 2 && left > lost;
  }

  /** What is wrong with a write that made `after` of `before`; undefined: nothing. `removes`: it takes the copy away. */
  wrongWrite(before: RawObject | undefined, after: RawObject | undefined): Found {
    const { namespace = "", name } = (before ?? after)?.metadata ?? { name: "" };
    const home = this.world.namespaces.get(namespace);
    if (!home) return { wrong: "in a namespace that does not exist" };
    if (before && isPull(before)) return this.#wrongFill(home, before, after);
    // The model has what is at a place as it is now, which is what was there before the write.
    const rest = this.model.restAt(home, name);
    const sources = typeof rest === "string" ? [] : rest;
    if (after && isOurs(after)) {
      const differences = sources.map((source) => copyDifferences(after, source));
      const taker = sources[differences.findIndex((found) => found.length === 0)];
      const isTakeover = before && isOurs(before) && this.#isGone(before);
      if (taker) return isTakeover && taker.rank >= this.#rankOf(before) ? { takesOver: true } : {};
      if (before && this.#isServedMeanwhile(home, before, after)) return {};
      const ofContent = sources.some(({ raw }) => placeOf(raw) === wordOf(after, "source"));
      const said = rest.length === 0 ? "nothing may change there" : "no source wants it so";
      return {
        wrong:
          typeof rest === "string"
            ? "its place is unwanted"
            : `${said} (${differences[0]?.join(", ") ?? ""})`,
        ofContent,
      };
    }
    if (!before) return { wrong: "what it made is not ours" };
    if (after && JSON.stringify(dataOf(before)) !== JSON.stringify(dataOf(after)))
      return { wrong: "a release changed data" };
    if (rest === "nothing of ours") {
      const keeps = this.#keeps(before);
      if (after ? keeps : !keeps) return { removes: true };
      return { wrong: after ? "released in place of deleted" : "on-delete says that it is kept" };
    }
    const isFixed = sources.some(
      ({ content }) => (before.type ?? "Opaque") !== content.type || before.immutable === true,
    );
    if (!after && isFixed) return {};
    return { wrong: "its place is wanted, frozen or paused" };
  }

  #keeps(copy: RawObject): boolean {
    const named = wordOf(copy, "source") ?? "";
    const entry = entriesOf(this.flags)?.find(({ object }) => object === `${copy.kind} ${named}`);
    const source = this.world.objects.get(named);
    const own = source && !isPull(source) && !isOurs(source) ? wordsOn(source) : {};
    const words = entry && !entry.refused && source ? entry.words : own;
    const pushing = (words["to"] ?? words["to-selector"]) !== undefined;
    const said = words["on-delete"] ?? (pushing ? "delete" : wordOf(copy, "on-delete"));
    return said !== undefined && said !== "delete";
  }

  #wrongFill(home: Raw, before: RawObject, after: RawObject | undefined): Found {
    if (!after) return { wrong: "it deleted a pulling object" };
    const rest = this.model.pulledAt(home, before);
    if (rest === "as it is") return { wrong: "what was pulled may not change there" };
    if (rest === "its owner's")
      return isSame(dataOf(after), dataOf(before)) && !isFilled(after)
        ? { removes: true }
        : { wrong: "what its owner keeps changed" };
    if (Object.keys(rest).length === 0)
      return isBlank(after) && !isFilled(after)
        ? { removes: true }
        : { wrong: "filled with what is not offered" };
    return isSame(dataOf(after), rest) && isFilled(after)
      ? {}
      : { wrong: "it does not hold what its source offers", ofContent: true };
  }
}

/** What is wrong with a write whatever the state is. */
export function wrongInAnyCase(
  request: ApiRequest,
  before: RawObject | undefined,
  after: RawObject | undefined,
): string | undefined {
  const form = wrongForm(request, after ?? ({ metadata: {} } as RawObject));
  if (form !== undefined) return form;
  if (request.method === "POST") return undefined;
  if (request.method === "PATCH" && preconditionsOf(request.body).uid === undefined)
    return "without a UID";
  return before && wrongTarget(request.method, before, after);
}
