// Judges each write that the API server carried out for the controller, by the contract: what it may
// touch, with which preconditions, with which content, and why. A controller may lag behind, so what was
// so at some time within MEMORY_MS is a good reason; what never was so is none.
import type { ApiRequest } from "../../../packages/kube/rest/api-client.ts";
import type { Slots } from "./slots.ts";
import { contentDifferences } from "./differences.ts";
import {
  finalizersOf,
  placeAsked,
  preconditionsOf,
  wrongForm,
  wrongTarget,
} from "./request-judge.ts";
import { isFrozenByList, lostItsEntry } from "../model/model.ts";
import { filterKeys } from "../model/patterns.ts";
import {
  dataOf,
  isBlank,
  isFilled,
  isHidden,
  isSame,
  memoized,
  slotOf,
  wordOf,
  wordsOn,
} from "../model/raw.ts";
import type { Flags, Raw, Source, Standing, Texts } from "../model/raw.ts";
import { acceptance, allows, isExcluded, pushes } from "../model/namespaces.ts";
import { isOurs, isPull, standingOf } from "../model/standing.ts";

const MEMORY_MS = 30 * 60_000;
const SLOWEST_MS = 10_000;

export type Circumstances = {
  readonly now: number;
  /** But for the source list, of which `slots` knows. */
  readonly flags: Flags;
  readonly listSlot: string;
  readonly graceMs: number;
  /** So long a removal is held that could be a mistake. */
  readonly holdMs: number;
};

/** What is wrong with a write of the controller that was carried out; undefined: nothing. */
export function wrongWrite(
  request: ApiRequest,
  answer: Raw,
  slots: Slots,
  around: Circumstances,
): string | undefined {
  const { method, path, body } = request;
  if (changesNoObject(request)) return undefined;
  const { kind } = placeAsked(path) ?? {};
  if (!kind || (kind === "ConfigMap" && !around.flags.configMaps))
    return "it is not for the controller to write there";
  const judge = new Judge(slots, around);
  const after = { ...answer, kind };
  const form = wrongForm(request, after);
  if (form !== undefined) return form;
  if (method === "POST") return judge.created(after);
  const before = slots.version(preconditionsOf(body).resourceVersion ?? "");
  if (!before) return "of a version that never was";
  if (method === "DELETE") return judge.deleted(before);
  if (finalizersOf(after) !== finalizersOf(before)) return "it changed finalizers";
  return judge.changed(before, after);
}

/** Events, Leases and what is only rehearsed. */
export function changesNoObject({ path, query }: ApiRequest): boolean {
  return /\/(events|leases)(\/[^/]*)?$/.test(path) || query?.["dryRun"] === "All";
}

class Judge {
  readonly #slots: Slots;
  readonly #around: Circumstances;

  constructor(slots: Slots, around: Circumstances) {
    this.#slots = slots;
    this.#around = around;
  }

  created(after: Raw): string | undefined {
    // Under opt-in only what a replace took away comes again.
    const was = this.#slots.since(slotOf(after), this.#around.now - MEMORY_MS);
    const replaced = was.some(({ raw }) => raw && isOurs(raw));
    if (this.#around.flags.holdsCreates === true && !replaced) return "it makes none";
    return this.#justified(after, replaced);
  }

  changed(before: Raw, after: Raw): string | undefined {
    if (before.metadata.resourceVersion === after.metadata.resourceVersion) return undefined;
    const wrong = wrongTarget("PATCH", before, after);
    if (wrong !== undefined) return wrong;
    if (isPull(before)) return this.#filled(before, after);
    if (isOurs(before)) {
      if (isOurs(after)) return this.#justified(after, true);
      if (JSON.stringify(dataOf(before)) !== JSON.stringify(dataOf(after)))
        return "a release changed data";
      return this.#ended(before);
    }
    return this.#justified(after, false);
  }

  deleted(before: Raw): string | undefined {
    const target = wrongTarget("DELETE", before);
    if (target !== undefined) return target;
    // Whatever is wrong with it as an ending, as a replace it may be right, which is dear to find out.
    const wrong = this.#wronglyEnded(before);
    return wrong !== undefined && this.#replaceable(before) ? undefined : wrong;
  }

  #wronglyEnded(before: Raw): string | undefined {
    const ended = this.#ended(before);
    if (ended !== undefined) return ended;
    if (wordOf(before, "on-delete") !== undefined && !this.#letsGo(before))
      return "it was to be kept";
    return this.#keeps(before) ? "its source says that it is kept" : undefined;
  }

  // By its own word, for longer than a delete takes that was right when it was sent.
  #keeps(copy: Raw): boolean {
    const { now, graceMs } = this.#around;
    const uid = wordOf(copy, "source-uid");
    const named = `${copy.kind} ${wordOf(copy, "source")}`;
    const listed = this.#sources(copy, "source").some(({ entry }) => entry !== undefined);
    return (
      !listed &&
      this.#slots
        .since(named, now - Math.max(graceMs, SLOWEST_MS))
        .every(({ raw }) => this.#ownWords(raw, uid)?.["on-delete"] === "keep")
    );
  }

  // What an object of this UID, or a source of its name, says of its copies; undefined: nothing, as where no watch shows it or no
  // sources are, or what it says is of itself, as of a pulling object and of a copy.
  #ownWords(raw: Raw | undefined, uid: string | undefined): Texts | undefined {
    if (!raw || isHidden(raw) || isPull(raw) || isOurs(raw)) return undefined;
    const standings = this.#lists().map(({ flags }) => standingWith(raw, flags));
    // A valid source of the same name with another UID counts as the source.
    const counts =
      raw.metadata.uid === uid
        ? standings.some((standing) => standing !== "outside")
        : standings.some((standing) => typeof standing !== "string");
    return counts ? wordsOn(raw) : undefined;
  }

  // Its source, after the last version that had copies kept (deletes are confirmed by a read), said that they
  // go. One that neither asks for copies nor says so says nothing.
  #letsGo(copy: Raw): boolean {
    const uid = wordOf(copy, "source-uid");
    // A valid source of the same name with another UID counts as the source.
    const listed = this.#sources(copy, "source").filter(({ entry }) => entry !== undefined);
    const { now } = this.#around;
    const own = this.#slots
      .since(`${copy.kind} ${wordOf(copy, "source")}`, now - MEMORY_MS)
      .map(({ raw, since }) => ({
        words: this.#ownWords(raw, uid),
        known: since <= now - SLOWEST_MS,
      }));
    // A source that says so only since then may not be known yet, also when its copy is.
    const kept = own.findLastIndex(({ words, known }) => known && words?.["on-delete"] === "keep");
    const since = own.slice(kept + 1).flatMap(({ words }) => (words ? [words] : []));
    return [...listed.map(({ words }) => words), ...since].some(
      (words) =>
        words["on-delete"] === "delete" ||
        (words["on-delete"] === undefined &&
          (words["to"] !== undefined || words["to-selector"] !== undefined)),
    );
  }

  // Some version of its source wanted it there, with this content.
  #justified(after: Raw, there: boolean): string | undefined {
    const uid = wordOf(after, "source-uid");
    const versions = this.#sources(after, "source").filter(
      (source) =>
        source.raw.metadata.uid === uid &&
        !source.paused &&
        source.copyName === after.metadata.name,
    );
    if (versions.length === 0) return "no source wants a copy of this name";
    const wanting = versions.filter((source) =>
      this.#namespaces(after).some((namespace) =>
        pushes(source, namespace, this.#around.flags, there),
      ),
    );
    if (wanting.length === 0) return "its source never wanted this place";
    const faults = wanting.map(({ content }) => contentDifferences(after, content));
    return faults.some((found) => found.length === 0)
      ? undefined
      : `its source never held this (${faults.at(-1)?.join(", ")})`;
  }

  // The API takes no update there, for the sake of some source whose copy would be made there anew.
  #replaceable(before: Raw): boolean {
    const { flags } = this.#around;
    const everywhere = this.#slots
      .ofKind(before.kind ?? "")
      .flatMap((slot) => this.#sourcesAt(slot));
    return everywhere.some((source) => {
      if (source.paused || source.copyName !== before.metadata.name) return false;
      if (!this.#namespaces(before).some((namespace) => pushes(source, namespace, flags)))
        return false;
      const { content } = source;
      const type = before.type ?? "Opaque";
      return type !== content.type || before.immutable === true;
    });
  }

  // At some time, and since the grace, the place was not wanted by the source that the copy names.
  #ended(copy: Raw): string | undefined {
    const { now } = this.#around;
    const from = now - MEMORY_MS;
    const named = `${copy.kind} ${wordOf(copy, "source")}`;
    const namespaces = this.#slots.since(copy.metadata.namespace ?? "", from);
    // The grace is the place's: it may be over for a copy that replaced an unwanted one of another source.
    const isSuccessor = this.#slots
      .since(slotOf(copy), from)
      .some(({ raw }) => raw && isOurs(raw) && sourceOf(raw) !== sourceOf(copy));
    const sinceMs = isSuccessor ? this.#around.graceMs : 0;
    const reasons = this.#slots
      .since(named, from)
      .flatMap((moment) =>
        namespaces.flatMap((namespace) =>
          this.#lists().flatMap(({ since, flags }) =>
            isUnwanted(copy, moment.raw, namespace.raw, flags)
              ? [
                  Math.max(moment.since, namespace.since, since) +
                    this.#waitMs(copy, moment.raw, namespace.raw, flags) -
                    sinceMs,
                ]
              : [],
          ),
        ),
      );
    if (reasons.length === 0) return "its place was wanted, frozen or paused all the time";
    return Math.min(...reasons) <= now ? undefined : "its grace or its hold was not over";
  }

  // Of what follows from one object, and not from how many copies there are.
  #waitMs(copy: Raw, source: Raw | undefined, namespace: Raw | undefined, flags: Flags): number {
    const { graceMs, holdMs } = this.#around;
    if (namespace && wordOf(namespace, "accept") === "false") return graceMs;
    const standing = source && standingWith(source, flags);
    const longest = holdMs === 0 ? graceMs : Math.max(graceMs, holdMs);
    if (!standing || typeof standing === "string") return longest;
    if (namesNobody(standing)) return graceMs;
    if (lostItsEntry(copy, flags)) return longest;
    return this.#wantsSeveral(standing, flags) ? graceMs : longest;
  }

  // It lost one place at least, and wants more than it lost.
  #wantsSeveral(source: Source, flags: Flags): boolean {
    const from = this.#around.now - MEMORY_MS;
    const wanting = this.#slots
      .namespaces()
      .filter((name) =>
        this.#slots
          .since(name, from)
          .some(({ raw }) => raw !== undefined && pushes(source, raw, flags, true)),
      );
    return wanting.length >= 2;
  }

  #filled(before: Raw, after: Raw): string | undefined {
    const [was, is] = [dataOf(before), dataOf(after)];
    if (!isFilled(after)) {
      const isKept = wordOf(before, "on-delete") === "keep" && isSame(was, is);
      if (!isFilled(before)) return "what it did not fill changed";
      return isKept || isBlank(after) ? undefined : "what it took off it did not empty";
    }
    if (!isFilled(before) && !isBlank(before) && !isSame(was, is))
      return "its owner's content changed";
    const offers = this.#sources(before, "from").some((source) => {
      const consents = this.#namespaces(before).some((one) =>
        allows(source, one, this.#around.flags),
      );
      const offered = filterKeys(wordOf(before, "keys"), source.content.data);
      return consents && offered !== undefined && isSame(offered, is);
    });
    return offers ? undefined : `no source ever offered its ${Object.keys(is).join(", ")}`;
  }

  /** All that the object named by this word of `object` ever was as a source. */
  #sources(object: Raw, word: "source" | "from"): readonly Source[] {
    return this.#sourcesAt(`${object.kind} ${wordOf(object, word)}`);
  }

  #sourcesAt(slot: string): readonly Source[] {
    const lists = this.#lists();
    return this.#slots.since(slot, this.#around.now - MEMORY_MS).flatMap(({ raw }) =>
      lists.flatMap(({ flags }) => {
        const standing = raw && standingWith(raw, flags);
        return standing === undefined || typeof standing === "string" ? [] : [standing];
      }),
    );
  }

  /** The flags with each list that there was. */
  #lists(): readonly { readonly since: number; readonly flags: Flags }[] {
    const { now, flags, listSlot } = this.#around;
    return this.#slots
      .since(listSlot, now - MEMORY_MS)
      .map(({ since, raw }) => ({ since, flags: withList(flags, raw) }));
  }

  #namespaces(copy: Raw): readonly Raw[] {
    const { now } = this.#around;
    const moments = this.#slots.since(copy.metadata.namespace ?? "", now - MEMORY_MS);
    return moments.flatMap(({ raw }) => (raw ? [raw] : []));
  }
}

// Exactly `to: "!*"`, without a selector.
const namesNobody = ({ words }: Source): boolean =>
  words["to"]?.trim() === "!*" && words["to-selector"] === undefined;

const sourceOf = (copy: Raw): string => `${wordOf(copy, "source")} ${wordOf(copy, "source-uid")}`;

function isUnwanted(
  copy: Raw,
  moment: Raw | undefined,
  namespace: Raw | undefined,
  flags: Flags,
): boolean {
  if (!namespace || isExcluded(namespace.metadata.name, flags)) return false;
  const named = wordOf(copy, "source") ?? "";
  if (acceptance(namespace, named, flags) === "unclear") return false;
  const standing = moment
    ? standingWith(moment, flags)
    : standingOf(`${copy.kind} ${named}`, undefined, flags);
  if (isFrozenByList(copy, flags) || standing === "refused") return false;
  if (standing === "outside") return wordOf(copy, "entry") !== undefined;
  if (standing === "silent" || standing === "open") return true;
  if (standing.paused) return false;
  return standing.copyName !== copy.metadata.name || !pushes(standing, namespace, flags, true);
}

// What never changes is asked many times.
const NO_LIST = {};
const flagsWith = memoized((flags: Flags) =>
  memoized((list: object): Flags => ({
    ...flags,
    list: list === NO_LIST ? undefined : (list as Raw),
  })),
);
const standingsBy = memoized((flags: Flags) =>
  memoized((raw: Raw): Standing => standingOf(slotOf(raw), raw, flags)),
);

const withList = (flags: Flags, list: Raw | undefined): Flags => flagsWith(flags)(list ?? NO_LIST);
const standingWith = (raw: Raw, flags: Flags): Standing => standingsBy(flags)(raw);
