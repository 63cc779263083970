// A random world of namespaces, sources, strangers and people who meddle with copies, and what it
// must look like in the end. It knows the rules by itself and asks the controller's code nothing.
import { Api, type RawSecret } from "../../support/scenes/api.ts";
import { pick } from "../../support/time/random.ts";

type Source = { readonly to: string; readonly type: string; readonly data: Record<string, string> };

/** Every value of every Secret has this in it: no log line may. */
export const MARKER = "hunter2";
const ENCODED = Buffer.from(MARKER).toString("base64").slice(0, 8);

export function tellsMarker(text: string): boolean {
  return text.includes(MARKER) || text.includes(ENCODED);
}

export type WorldState = { readonly copies: number; readonly wrong: readonly string[] };

const SOURCES = "shared";
const NAMES = ["s0", "s1", "s2", "s3", "s4", "s5"] as const;
const TO = ["*", "team-*", "team-1*,team-2", "*,!team-3", "team-?", "team-[bad]"] as const;
const TYPES = ["Opaque", "Opaque", "example.com/other"] as const;
const MOST_TEAMS = 14;

export class World {
  readonly #api: Api;
  readonly #chance: () => number;
  readonly #isOthers: (place: string) => boolean;
  /** By name: whether it accepts copies. */
  readonly #namespaces = new Map<string, boolean>([["default", true]]);
  readonly #sources = new Map<string, Source>();
  /** By place: UID and version that nobody but us may change. */
  readonly #strangers = new Map<string, string>();
  /** How often each kind of change was made. */
  readonly changes = new Map<string, number>();

  /** Copies that `isOthers` are looked at by somebody else. */
  constructor(api: Api, chance: () => number, isOthers: (place: string) => boolean = () => false) {
    this.#api = api;
    this.#chance = chance;
    this.#isOthers = isOthers;
  }

  async begin(): Promise<void> {
    for (const name of [SOURCES, "controller"]) await this.#api.createNamespace(name);
    for (let n = 0; n < 8; n++) await this.#addNamespace();
    for (const name of NAMES) await this.#writeSource(name, pick(this.#chance, ["*", "team-*"]));
    for (let n = 0; n < 6; n++) await this.#stranger();
  }

  /** One change at random; what has gone meanwhile is left at that. */
  async change(): Promise<void> {
    const [kind, make] = pick(this.#chance, [
      [
        "source written",
        () => this.#writeSource(pick(this.#chance, NAMES), pick(this.#chance, TO)),
      ],
      ["source rotated", () => this.#rotate()],
      ["source deleted", () => this.#deleteSource()],
      ["namespace made", () => this.#addNamespace()],
      ["namespace deleted", () => this.#deleteNamespace()],
      ["namespace declines or accepts", () => this.#toggle()],
      ["stranger made", () => this.#stranger()],
      ["stranger deleted", () => this.#deleteStranger()],
      ["copy edited", () => this.#edit()],
      ["copy deleted", () => this.#deleteCopy()],
      ["copy's label taken off", () => this.#strip()],
    ]);
    await make();
    this.changes.set(kind, (this.changes.get(kind) ?? 0) + 1);
  }

  /** Every source can be understood from here on, so that there is one right state. */
  async conclude(): Promise<void> {
    for (const name of NAMES)
      if (this.#sources.get(name)?.to.includes("[")) await this.#writeSource(name, "team-*");
  }

  /** What differs from the right state; empty when nothing does. */
  async wrong(): Promise<readonly string[]> {
    return (await this.state()).wrong;
  }

  async state(): Promise<WorldState> {
    const all = (await this.#api.secrets())
      .map((secret) => [placeOf(secret), secret] as const)
      .filter(([place]) => !this.#isOthers(place));
    const there = new Map(all);
    const wanted = this.#wanted();
    const copies = all.filter(([, secret]) => isCopy(secret)).map(([place]) => place);
    const wrong = [
      ...Array.from(wanted).flatMap(([place, source]) => differs(place, there.get(place), source)),
      ...copies.filter((place) => !wanted.has(place)).map((place) => `${place}: not wanted`),
      ...this.touched(there),
    ];
    return { copies: copies.length, wrong };
  }

  /** Strangers that somebody else wrote to. */
  touched(there: ReadonlyMap<string, RawSecret>): readonly string[] {
    return Array.from(this.#strangers).flatMap(([place, version]) =>
      versionOf(there.get(place)) === version ? [] : [`${place}: a stranger was touched`],
    );
  }

  #wanted(): ReadonlyMap<string, Source> {
    const wanted = new Map<string, Source>();
    for (const [name, source] of this.#sources)
      for (const [namespace, accepts] of this.#namespaces) {
        const place = `${namespace}/${name}`;
        if (accepts && matches(source.to, namespace) && !this.#strangers.has(place))
          wanted.set(place, source);
      }
    return wanted;
  }

  async #addNamespace(): Promise<void> {
    const name = `team-${Math.floor(this.#chance() * MOST_TEAMS)}`;
    // One on its way out keeps its name for seconds on a real API server.
    if (this.#namespaces.has(name) || (await this.#api.hasNamespace(name))) return;
    await this.#api.createNamespace(name);
    this.#namespaces.set(name, true);
  }

  async #deleteNamespace(): Promise<void> {
    const name = this.#team();
    if (name === undefined || this.#namespaces.size < 6) return;
    this.#namespaces.delete(name);
    for (const place of this.#strangers.keys())
      if (place.startsWith(`${name}/`)) this.#strangers.delete(place);
    await this.#api.deleteNamespace(name);
  }

  async #toggle(): Promise<void> {
    const name = this.#team();
    if (name === undefined) return;
    const accepts = !(this.#namespaces.get(name) ?? true);
    this.#namespaces.set(name, accepts);
    await this.#api.patchNamespace(name, {
      annotations: { "secretcast.io/accept": accepts ? null : "false" },
    });
  }

  async #writeSource(name: string, to: string): Promise<void> {
    const present = this.#sources.get(name);
    const data = this.#data();
    if (present) {
      await this.#api.annotate(SOURCES, name, { "secretcast.io/to": to });
      await this.#api.setData(SOURCES, name, data);
      this.#sources.set(name, { ...present, to, data: { ...present.data, ...data } });
      return;
    }
    const type = pick(this.#chance, TYPES);
    const annotations = { "secretcast.io/to": to };
    await this.#api.createSecret(SOURCES, name, { annotations, type, data });
    this.#sources.set(name, { to, type, data });
  }

  async #rotate(): Promise<void> {
    const name = pick(this.#chance, NAMES);
    const present = this.#sources.get(name);
    if (present) await this.#writeSource(name, present.to);
  }

  async #deleteSource(): Promise<void> {
    const name = pick(this.#chance, NAMES);
    if (!this.#sources.delete(name)) return;
    await this.#api.deleteSecret(SOURCES, name);
    // Half of them are there again at once, as another object and perhaps of another type.
    if (this.#chance() < 0.5) await this.#writeSource(name, "team-*");
  }

  async #stranger(): Promise<void> {
    const place = this.#place();
    const [namespace = "", name = ""] = place.split("/");
    if (await this.#api.secret(namespace, name)) return;
    const made = await this.#api
      .createSecret(namespace, name, { data: this.#data() })
      // A copy may have been quicker.
      .catch(() => undefined);
    if (made) this.#strangers.set(place, versionOf(made));
  }

  async #deleteStranger(): Promise<void> {
    const [place] = Array.from(this.#strangers.keys());
    if (place === undefined) return;
    this.#strangers.delete(place);
    const [namespace = "", name = ""] = place.split("/");
    await this.#api.deleteSecret(namespace, name);
  }

  async #edit(): Promise<void> {
    await this.#meddle((namespace, name) =>
      this.#api.patchSecret(namespace, name, { data: { password: btoa(`edited ${MARKER}`) } }),
    );
  }

  async #deleteCopy(): Promise<void> {
    await this.#meddle((namespace, name) => this.#api.deleteSecret(namespace, name));
  }

  async #strip(): Promise<void> {
    await this.#meddle(async (namespace, name) => {
      const labels = { "app.kubernetes.io/managed-by": null };
      const left = await this.#api.patchSecret(namespace, name, { metadata: { labels } });
      this.#strangers.set(`${namespace}/${name}`, versionOf(left));
    });
  }

  /** Something with a copy, where there is one. */
  async #meddle(what: (namespace: string, name: string) => Promise<unknown>): Promise<void> {
    const place = this.#place();
    const [namespace = "", name = ""] = place.split("/");
    const present = await this.#api.secret(namespace, name);
    if (present && isCopy(present)) await what(namespace, name).catch(() => undefined);
  }

  #team(): string | undefined {
    const teams = Array.from(this.#namespaces.keys()).filter((name) => name !== "default");
    const [first, ...rest] = teams;
    return first === undefined ? undefined : pick(this.#chance, [first, ...rest]);
  }

  #place(): string {
    return `${this.#team() ?? "default"}/${pick(this.#chance, NAMES)}`;
  }

  #data(): Record<string, string> {
    return { password: `${MARKER} ${Math.floor(this.#chance() * 1e9)}` };
  }
}

function matches(to: string, namespace: string): boolean {
  const globs = to.split(",");
  const fits = (glob: string): boolean =>
    new RegExp(`^${glob.replaceAll("*", ".*").replaceAll("?", ".")}$`).test(namespace);
  return (
    globs.some((glob) => !glob.startsWith("!") && fits(glob)) &&
    !globs.some((glob) => glob.startsWith("!") && fits(glob.slice(1)))
  );
}

function isCopy({ metadata }: RawSecret): boolean {
  return metadata.labels?.["app.kubernetes.io/managed-by"] === "secretcast";
}

function placeOf({ metadata }: RawSecret): string {
  return `${metadata.namespace}/${metadata.name}`;
}

function versionOf(secret: RawSecret | undefined): string {
  return `${secret?.metadata.uid} ${secret?.metadata.resourceVersion}`;
}

function differs(place: string, secret: RawSecret | undefined, source: Source): readonly string[] {
  if (!secret) return [`${place}: missing`];
  if (!isCopy(secret)) return [`${place}: somebody else's, and not by us`];
  const data = Object.entries(secret.data ?? {}).map(([key, value]) => [key, atob(value)]);
  const same = JSON.stringify(Object.fromEntries(data)) === JSON.stringify(source.data);
  return same && secret.type === source.type ? [] : [`${place}: not as its source`];
}
