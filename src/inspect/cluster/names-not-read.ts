// What --only-names leaves out and users may take for current: annotated objects and copies of other names. The
// controller does not read them, so it neither changes nor reports them. Only metadata are read, with the user's
// rights. Without --only-names nothing is asked.
import { isNameRead, missingToAdd } from "../../controller/annotations/name-scope.ts";
import { annotationKey, PREFIX } from "../../controller/annotations/vocabulary.ts";
import { recordedEntry, recordedList } from "../../controller/desired/copy.ts";
import { isMadeByOther } from "../../controller/desired/namespace-rules.ts";
import type { PlannerSettings } from "../../controller/model/cluster.ts";
import { KINDS, type ObjectKind } from "../../controller/model/kinds.ts";
import { objectOf, stringOf, stringsOf } from "../../controller/model/unstructured.ts";
import { marksOf } from "../../controller/observed/read-copy.ts";
import type { ApiClient } from "../../../packages/kube/rest/api-client.ts";
import { ApiError } from "../../../packages/kube/rest/api-error.ts";
import { listed } from "../../text/listed.ts";
import { parseRef, refText, type Ref } from "../../text/names.ts";
import { printable } from "../../text/printable.ts";
import { listKept } from "../requests/list-kept.ts";
import { withoutData } from "../requests/without-data.ts";

export type NamesNotRead = {
  /** For a user, with the value to add. Empty where every name is read. */
  readonly lines: readonly string[];
  /** Objects are left out that somebody should act on. */
  readonly isMissing: boolean;
  /** What may not be listed. */
  readonly unknown: readonly string[];
};

export type NamesQuestion = {
  readonly client: ApiClient;
  readonly settings: PlannerSettings;
  readonly kinds: readonly ObjectKind[];
  /** Only names with an object in this namespace count. */
  readonly namespace?: string | undefined;
  readonly signal: AbortSignal;
};

type Role = "copies" | "sources" | "pulling objects";
type Found = {
  readonly role: Role;
  readonly place: Ref;
  /** That a copy or a pulling object names. */
  readonly source: Ref | undefined;
};

const NOTHING: NamesNotRead = { lines: [], isMissing: false, unknown: [] };
const MOST_SHOWN = 10;

export async function readNamesNotRead(question: NamesQuestion): Promise<NamesNotRead> {
  const { onlyNames } = question.settings;
  if (!onlyNames) return NOTHING;
  const kinds = question.kinds.map((kind) => readKind(question, kind, onlyNames));
  return together(await Promise.all(kinds));
}

function together(each: readonly NamesNotRead[]): NamesNotRead {
  return {
    lines: each.flatMap(({ lines }) => lines),
    isMissing: each.some(({ isMissing }) => isMissing),
    unknown: each.flatMap(({ unknown }) => unknown),
  };
}

async function readKind(
  { client, settings, namespace, signal }: NamesQuestion,
  kind: ObjectKind,
  onlyNames: ReadonlySet<string>,
): Promise<NamesNotRead> {
  const { resource } = KINDS[kind];
  const judge = new Judge(settings, onlyNames);
  const unread: string[] = [];
  for (const scope of settings.scope ? settings.scope.watched : [undefined]) {
    const options = { client: withoutData(client), scope: { resource, namespace: scope }, signal };
    const some = await listKept(options, (raw) => judge.read(raw));
    if (some instanceof ApiError) unread.push(scope ?? "all namespaces");
    else judge.found.push(...some);
  }
  const where = listed(unread, MOST_SHOWN);
  return {
    ...judge.answer(kind, namespace),
    unknown:
      unread.length === 0
        ? []
        : [
            `you may not list ${resource.plural} in ${where}: whether others are left out by --only-names is not known`,
          ],
  };
}

/** The same of objects that files describe. */
export function namesNotReadOf(
  kinds: readonly ObjectKind[],
  objectsOf: (kind: ObjectKind) => Iterable<unknown>,
  settings: PlannerSettings,
): NamesNotRead {
  const { onlyNames } = settings;
  if (!onlyNames) return NOTHING;
  const each = kinds.map((kind) => {
    const judge = new Judge(settings, onlyNames);
    for (const raw of objectsOf(kind)) {
      const found = judge.read(raw);
      if (found) judge.found.push(found);
    }
    return { ...judge.answer(kind, undefined), unknown: [] };
  });
  return together(each);
}

class Judge {
  readonly found: Found[] = [];
  readonly #settings: PlannerSettings;
  readonly #onlyNames: ReadonlySet<string>;
  /** What can be a source: objects of the source namespaces. */
  readonly #own = new Set<string>();

  constructor(settings: PlannerSettings, onlyNames: ReadonlySet<string>) {
    this.#settings = settings;
    this.#onlyNames = onlyNames;
  }

  read(raw: unknown): Found | undefined {
    const metadata = objectOf(objectOf(raw).metadata);
    const place = { namespace: stringOf(metadata.namespace), name: stringOf(metadata.name) };
    if (this.#settings.sourceNamespaces.matches(place.namespace)) this.#own.add(refText(place));
    if (isNameRead(this.#onlyNames, place.name)) return undefined;
    return takingPart(metadata, place, this.#settings);
  }

  answer(
    kind: ObjectKind,
    namespace: string | undefined,
  ): Pick<NamesNotRead, "lines" | "isMissing"> {
    const isAsked = (place: Ref): boolean =>
      namespace === undefined || place.namespace === namespace;
    const named = namesOf(this.found, this.#own).filter(({ places }) => places.some(isAsked));
    return {
      lines: linesOf(kind, named, this.#onlyNames),
      isMissing: named.some(({ isForeign }) => !isForeign),
    };
  }
}

/** Objects of another installation do not take part in this one. */
function takingPart(
  { labels, annotations }: { readonly labels?: unknown; readonly annotations?: unknown },
  place: Ref,
  settings: PlannerSettings,
): Found | undefined {
  const texts = stringsOf(annotations);
  const marks = marksOf(place, stringsOf(labels), texts);
  const from = texts[annotationKey("from")];
  if (from !== undefined) return { role: "pulling objects", place, source: parseRef(from.trim()) };
  if (marks)
    return isMadeByOther(settings, {
      source: marks.source,
      entry: recordedEntry(texts),
      list: recordedList(texts),
    })
      ? undefined
      : { role: "copies", place, source: marks.source };
  const isSource =
    settings.sourceNamespaces.matches(place.namespace) &&
    Object.keys(texts).some((key) => key.startsWith(PREFIX));
  return isSource ? { role: "sources", place, source: undefined } : undefined;
}

type NotRead = {
  readonly role: Role;
  readonly name: string;
  readonly places: readonly Ref[];
  /** In one namespace only and without a source: its users can make these alone. */
  readonly isForeign: boolean;
};

/** The most objects first. */
function namesOf(found: readonly Found[], own: ReadonlySet<string>): readonly NotRead[] {
  const groups = Map.groupBy(found, ({ role, place }) => `${role} ${place.name}`);
  return [...groups.values()]
    .flatMap((group): NotRead[] => {
      const [first] = group;
      if (!first) return [];
      const places = group.map(({ place }) => place);
      const isForeign =
        first.role !== "sources" &&
        new Set(places.map(({ namespace }) => namespace)).size === 1 &&
        group.every(({ source }) => !source || !own.has(refText(source)));
      return [{ role: first.role, name: first.place.name, places, isForeign }];
    })
    .toSorted((a, b) => b.places.length - a.places.length || (a.name < b.name ? -1 : 1));
}

function linesOf(
  kind: ObjectKind,
  named: readonly NotRead[],
  onlyNames: ReadonlySet<string>,
): readonly string[] {
  const lines = (["copies", "sources", "pulling objects"] as const).flatMap((role) => {
    const of = named.filter((each) => each.role === role && !each.isForeign);
    const count = of.reduce((sum, { places }) => sum + places.length, 0);
    const names = listed(
      of.map(({ name }) => name),
      MOST_SHOWN,
    );
    if (count === 0) return [];
    return [`${count} ${wordOf(role, count, kind)} of names that are not read: ${names}`];
  });
  const foreign = named.filter(({ isForeign }) => isForeign);
  const missing = new Set(named.filter(({ isForeign }) => !isForeign).map(({ name }) => name));
  return [
    ...(lines.length === 0
      ? []
      : [`${lines.join("; ")}; nothing keeps them current: ${missingToAdd(onlyNames, missing)}`]),
    ...foreign
      .slice(0, MOST_SHOWN)
      .map(
        ({ role, name, places }) =>
          `not read, in ${places[0]?.namespace ?? ""} alone and without a source: ${places.length} ${wordOf(role, places.length, kind)} called ${name}`,
      ),
  ].map(printable);
}

const SINGULAR: Readonly<Record<Role, string>> = {
  copies: "copy",
  sources: "source",
  "pulling objects": "pulling object",
};

function wordOf(role: Role, count: number, kind: ObjectKind): string {
  const word = count === 1 ? SINGULAR[role] : role;
  return kind === "Secret" ? word : `${word} (${kind})`;
}
