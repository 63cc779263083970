// What is remembered beside the plan, in one object that lives as long as the process: it is never
// written anywhere and a controller that starts anew starts without it. plan() reads it and notes in
// it since when something has been so; apply tells it what became of each action.
// Every `now` is milliseconds of a monotonic clock, every `chance` uniform in [0, 1).
import { Absences } from "./absences.ts";
import { Deletions } from "./deletions.ts";
import { refText, type Ref } from "./model.ts";
import { Pairs } from "./pairs.ts";
import type { Action, Confirm } from "./verdicts.ts";

export type Fight = { readonly place: Ref; readonly source: Ref };

export class Memory {
  readonly pairs = new Pairs();
  readonly absences = new Absences();
  readonly deletions = new Deletions();
  /** By a source's UID, the fingerprint that all its copies had when a pass last found them so. */
  settled: ReadonlyMap<string, string> = new Map();
  #fights: Fight[] = [];

  /** The write was made. */
  succeeded(action: Action, now: number, chance: number): void {
    const place = refText(action.place);
    if (action.kind === "look") return;
    this.pairs.written(place, now);
    switch (action.kind) {
      case "delete":
      case "release":
      case "unfill":
        this.deletions.made(action.vanished, now);
        return;
      case "create":
      case "update":
      case "replace":
      case "adopt":
        this.#repaired(action, place, now, chance);
        return;
      case "fill":
        this.pairs.filled(place, action.inputs);
        this.#repaired(action, place, now, chance);
    }
  }

  #repaired(action: Action, place: string, now: number, chance: number): void {
    if (action.cause !== "edited" && action.cause !== "deleted") return;
    if (this.pairs.repaired(place, action.inputs, now, chance)) {
      this.#fights.push({ place: action.place, source: action.source });
    }
  }

  /** The write failed; `reason` is one line without a value of a Secret. */
  failed(action: Action, reason: string, now: number, chance: number): void {
    this.pairs.failed(refText(action.place), action.inputs, reason, now, chance);
  }

  /** The write met a 409 (version, UID) or a 404: the world has moved; not a failure. */
  outdated(action: Action, now: number): void {
    this.pairs.stale(refText(action.place), action.inputs, now);
  }

  /** A live GET found a Secret at a place that the cache shows empty. */
  hidden(place: Ref, now: number, chance: number): void {
    this.pairs.hidden(refText(place), now, chance);
  }

  /** A live GET found nothing there any more. */
  notHidden(place: Ref): void {
    this.pairs.notHidden(refText(place));
  }

  /** The live GET of a vanished source said 404 or another UID. */
  confirmedGone(source: Confirm, now: number): void {
    this.absences.confirmedGone(source, now);
  }

  /** The live GET of a vanished source found it. */
  stillThere(source: Confirm): void {
    this.absences.stillThere(source);
  }

  /** The live GET of a vanished source gave no answer; its copies are frozen for a while. */
  unreadable(source: Confirm, reason: string, now: number, chance: number): void {
    this.absences.unreadable(source, reason, now, chance);
  }

  /** The watch showed a copy deleted, and not by us. */
  copyVanished(place: Ref): void {
    this.pairs.vanished(refText(place));
  }

  /** Fights that began since this was last asked. */
  takeFights(): readonly Fight[] {
    const fights = this.#fights;
    this.#fights = [];
    return fights;
  }

  beginPass(now: number): void {
    this.pairs.beginPass(now);
    this.absences.beginPass();
  }

  endPass(inFlight: ReadonlySet<string>): void {
    this.pairs.endPass(inFlight);
    this.absences.endPass();
  }
}
