// One watch: past events since a version, then new ones, one JSON line per event. It ends when the client
// disconnects, the time is over or the sandbox stops. Bookmarks are sent after a quiet time, shortly before
// the end, and after the initial events. A version that is not in the history is answered inside the
// stream, with status 200, as the real server does.
import type { ServerResponse } from "node:http";
import { candidates } from "./list.ts";
import type { JsonObject, StoredObject, JsonStrings } from "../storage/object.ts";
import { showBookmark, showObject, type Representation } from "../http/representation.ts";
import type { Selection } from "../kinds/selectors.ts";
import type { Schedule } from "../storage/schedule.ts";
import { StatusError, expired, tooLargeVersion } from "../storage/status.ts";
import type { StorageChange, Collection, Storage } from "../storage/storage.ts";

/** How a watch ends by itself: after so many events, without bookmarks. */
export type WatchEnding = { readonly watch: "cut" | "expire"; readonly afterEvents: number };

export type WatchRequest = {
  readonly selected: Selection;
  readonly version: number;
  /** Starts with an ADDED event for every existing object. */
  readonly initialEvents: boolean;
  /** Refuse a version that has not been reached yet, instead of waiting for it. */
  readonly notOlderThan: boolean;
  readonly bookmarks: boolean;
  readonly timeoutMs: number;
  readonly quietBookmarkMs: number;
  readonly schedule: Schedule;
  /** A test ends the watch after so many events. */
  readonly ending: WatchEnding | undefined;
  /** Formats objects for the client, and has the time. */
  readonly view: Representation;
};

const initialEventsEnd = "k8s.io/initial-events-end";

/** Time before the end of a watch when it sends a bookmark. */
const lastBookmarkMs = 2000;

/**
 * Maximum unread data of a client. Beyond it, the connection is closed, as the real server does with slow
 * watchers.
 */
const mostUnread = 256 * 1024 * 1024;

export class WatchConnection {
  readonly #storage: Storage;
  readonly #collection: Collection;
  readonly #request: WatchRequest;
  readonly #response: ServerResponse;
  readonly #timers: (() => void)[] = [];
  #cancelQuiet: () => void = () => undefined;
  #lastSent = 0;
  #events = 0;
  #unobserve: () => void = () => undefined;
  #first = true;
  #muted = false;
  #ended = false;
  /** There is one initial event per object, so no client counts as slow during them. */
  #mostUnread = Number.POSITIVE_INFINITY;

  constructor(storage: Storage, request: WatchRequest, response: ServerResponse) {
    this.#storage = storage;
    this.#request = request;
    this.#response = response;
    this.#collection = storage.collection(request.view.resource.storage);
  }

  start(): void {
    this.#response.writeHead(200, { "content-type": "application/json" });
    this.#response.flushHeaders();
    this.#response.on("close", () => this.#stop());
    const refusal = this.#replay();
    this.#mostUnread = this.#response.writableLength + mostUnread;
    if (refusal) this.fail(refusal.status);
    if (this.#isOver()) return;
    this.#unobserve = this.#collection.observe((change) => this.#notice(change));
    const { timeoutMs, bookmarks, schedule } = this.#request;
    this.#timers.push(schedule(() => this.end(), timeoutMs));
    if (!bookmarks) return;
    if (timeoutMs > lastBookmarkMs)
      this.#timers.push(schedule(() => this.#bookmark(), timeoutMs - lastBookmarkMs));
    this.#lastSent = this.#now();
    this.#awaitQuiet(this.#request.quietBookmarkMs);
  }

  /** A bookmark after each quiet time. An event only notes its time, since there can be many. */
  #awaitQuiet(ms: number): void {
    const { schedule, quietBookmarkMs } = this.#request;
    this.#cancelQuiet = schedule(() => {
      const left = this.#lastSent + quietBookmarkMs - this.#now();
      if (left <= 0) {
        this.#bookmark();
        this.#lastSent = this.#now();
      }
      this.#awaitQuiet(left <= 0 ? quietBookmarkMs : left);
    }, ms);
  }

  /** Ends the watch where a test wants it. */
  #isOver(): boolean {
    const { ending } = this.#request;
    if (ending === undefined || this.#events < ending.afterEvents || this.#ended)
      return this.#ended;
    if (ending.watch === "expire") this.fail(expired("too old resource version").status);
    else {
      this.#stop();
      // What was sent has to arrive before.
      this.#response.write("", () => this.#response.destroy());
    }
    return true;
  }

  /** Closes the stream regularly. */
  end(): void {
    this.#stop();
    this.#response.end();
  }

  /** Closes the connection at any moment. */
  cut(): void {
    this.#stop();
    this.#response.destroy();
  }

  /** Leaves the connection open and sends nothing: a half-open peer. */
  mute(): void {
    this.#muted = true;
    for (const cancel of this.#timers) cancel();
  }

  /** Sends the in-stream error that `status` describes and closes. */
  fail(status: JsonObject): void {
    this.#send("ERROR", status);
    this.end();
  }

  #stop(): void {
    this.#ended = true;
    this.#unobserve();
    for (const cancel of this.#timers) cancel();
    this.#cancelQuiet();
  }

  #replay(): StatusError | undefined {
    const { selected, version, initialEvents, bookmarks, notOlderThan } = this.#request;
    if (initialEvents) {
      if (notOlderThan && version > this.#storage.version)
        return tooLargeVersion(version, this.#storage.version);
      const { matches } = selected;
      for (const [, object] of candidates(this.#collection.view(), selected, ""))
        if (!matches || matches(object)) this.#send("ADDED", this.#shown(object));
      if (bookmarks) this.#bookmark({ [initialEventsEnd]: "true" });
      return undefined;
    }
    if (version === 0) return undefined;
    const changes = this.#collection.changesAfter(version);
    if (changes === undefined)
      return expired(`too old resource version: ${version} (${this.#collection.floor})`);
    for (const change of changes) this.#forward(change);
    return undefined;
  }

  #notice(change: StorageChange): void {
    // A watch from a future version is silent until that version is reached.
    if (change.version <= this.#request.version && !this.#request.initialEvents) return;
    if (this.#forward(change)) this.#lastSent = this.#now();
  }

  /**
   * Sends `change` as this selection sees it: an object that leaves it is deleted, one that enters it
   * added.
   */
  #forward(change: StorageChange): boolean {
    const { prefix, matches } = this.#request.selected;
    if (!change.key.startsWith(prefix)) return false;
    const seen = (object: StoredObject | undefined) =>
      object !== undefined && (!matches || matches(object));
    const was = seen(change.before);
    const is = change.kind !== "DELETED" && seen(change.object);
    if (!was && !is) return false;
    const kind = is ? (was ? "MODIFIED" : "ADDED") : "DELETED";
    // An object that left the selection is shown in its last selected state, with the new version.
    const object = is || change.before === undefined ? change.object : lastSeen(change);
    this.#send(kind, this.#shown(object));
    return true;
  }

  #shown(object: StoredObject): JsonObject {
    const shown = showObject(this.#request.view, object, this.#first);
    this.#first = false;
    return shown;
  }

  #now(): number {
    return this.#request.view.now();
  }

  #bookmark(annotations?: JsonStrings): void {
    const version = String(this.#storage.version);
    this.#send("BOOKMARK", showBookmark(this.#request.view, version, annotations));
  }

  #send(type: string, object: JsonObject): void {
    if (this.#muted || this.#ended) return;
    this.#response.write(`${JSON.stringify({ type, object })}\n`);
    if (this.#response.writableLength > this.#mostUnread) this.cut();
    if (type === "BOOKMARK" || type === "ERROR") return;
    this.#events++;
    this.#isOver();
  }
}

function lastSeen(change: StorageChange): StoredObject {
  const before = change.before ?? change.object;
  const metadata = { ...before.metadata, resourceVersion: String(change.version) };
  return { ...before, metadata };
}
