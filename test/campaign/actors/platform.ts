// The platform's sources, as the administrator writes them, and what a copy of each holds.
import { createHash } from "node:crypto";
import type { Http } from "../../../packages/sandbox/testing/http.ts";
import { prefixed } from "./actors.ts";
import { good, merge } from "../../support/api-server/pressure.ts";

type Data = Readonly<Record<string, string>>;
type Source = {
  readonly annotations: Data;
  readonly type?: string;
  /** Sizes of the entries in bytes. */
  readonly entries: Readonly<Record<string, number>>;
  /** Names of entries in the copy, where they are others. */
  readonly renamed?: Data;
};

const PLATFORM = "secretcast";
const SECRETS = `/api/v1/namespaces/${PLATFORM}/secrets`;
const numbered = Array.from({ length: 300 }, (_, at) => [`${"a".repeat(60)}${at}`, 40] as const);

/** Those of the first three have copies in every honest namespace. */
const SOURCES = {
  registry: { annotations: { to: "*" }, entries: { user: 40, password: 60 } },
  tls: {
    annotations: { "to-selector": "tier in (honest, tenant)" },
    type: "kubernetes.io/tls",
    entries: { "tls.crt": 2000, "tls.key": 1500 },
  },
  config: {
    annotations: { to: "honest-*,fresh-*", keys: "*,renamed=original" },
    entries: { original: 60, other: 50_000 },
    renamed: { original: "renamed" },
  },
  "for-neighbours": { annotations: { allow: "honest-*" }, entries: { filled: 60 } },
  consented: { annotations: { allow: "tenant-*" }, entries: { "ca.crt": 200_000, small: 40 } },
  many: { annotations: { allow: "tenant-*" }, entries: Object.fromEntries(numbered) },
} as const satisfies Readonly<Record<string, Source>>;
export type SourceName = keyof typeof SOURCES;

/** Of data with values in base64, to compare it and to print none. */
export function digestOf(data: Data): string {
  const sorted = Object.entries(data).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return createHash("sha256").update(JSON.stringify(sorted)).digest("hex");
}

export class Platform {
  readonly #admin: Http;
  readonly #chance: () => number;
  readonly #marker: string;
  readonly #data = new Map<string, Data>();
  /** Values that were written and must not be reported, in plain text. */
  readonly values: string[] = [];

  constructor(admin: Http, { chance, marker }: { chance: () => number; marker: string }) {
    this.#admin = admin;
    this.#chance = chance;
    this.#marker = marker;
  }

  async begin(): Promise<void> {
    for (const name of Object.keys(SOURCES)) await this.#create(name, definition(name));
  }

  /** A source of one entry, besides the lasting ones. */
  createFor(name: string, to: string): Promise<void> {
    return this.#create(name, { annotations: { to }, entries: { only: 60 } });
  }

  async rotate(name: SourceName): Promise<void> {
    const data = this.#fresh(definition(name).entries);
    await merge(this.#admin, `${SECRETS}/${name}`, { data });
    this.#data.set(name, data);
  }

  /** Changes an annotation that is no rule. */
  async touch(name: SourceName): Promise<void> {
    const annotations = { "example.com/touched": String(this.#chance()) };
    await merge(this.#admin, `${SECRETS}/${name}`, { metadata: { annotations } }).catch(() => {});
  }

  async remove(name: string): Promise<void> {
    await good(this.#admin.send("DELETE", `${SECRETS}/${name}`));
  }

  /** What a copy of it holds now, after `keys`, in base64. */
  copyOf(name: string): Data {
    const renamed: Data = Object.hasOwn(SOURCES, name) ? (definition(name).renamed ?? {}) : {};
    const entries = Object.entries(this.#data.get(name) ?? {});
    return Object.fromEntries(entries.map(([key, value]) => [renamed[key] ?? key, value]));
  }

  digestOf(name: string): string {
    return digestOf(this.copyOf(name));
  }

  /** A new value of about so many bytes, in base64. */
  value(bytes = 60): string {
    const plain = this.#marker.padEnd(bytes, `${Math.floor(this.#chance() * 1e12)} `);
    if (bytes < 100 && this.values.length < 500) this.values.push(plain);
    return Buffer.from(plain).toString("base64");
  }

  async #create(name: string, { annotations, entries, type }: Source): Promise<void> {
    const data = this.#fresh(entries);
    const metadata = { name, annotations: prefixed(annotations) };
    await good(this.#admin.send("POST", SECRETS, { body: { metadata, type, data } }));
    this.#data.set(name, data);
  }

  #fresh(entries: Source["entries"]): Data {
    const made = Object.entries(entries).map(([key, bytes]) => [key, this.value(bytes)]);
    return Object.fromEntries(made);
  }
}

function definition(name: string): Source {
  if (!Object.hasOwn(SOURCES, name)) throw new Error(`the platform has no source ${name}`);
  return SOURCES[name as SourceName];
}
