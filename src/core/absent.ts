// When a source that is not there counts as gone: absent for the grace, and then, before anything of
// its copies is touched, a live GET has to say 404 or another UID.
import { absenceKey } from "./absences.ts";
import { refText, type Settings } from "./model.ts";
import type { Pass } from "./pass.ts";
import type { Confirm } from "./verdicts.ts";
import type { Vanished } from "./deletions.ts";

export type Going =
  | { readonly kind: "grace"; readonly reason: string; readonly dueAt: number }
  | { readonly kind: "unreadable"; readonly reason: string; readonly dueAt: number }
  /** `confirm`: still to be asked; undefined: it was asked during this absence. */
  | { readonly kind: "gone"; readonly confirm: Confirm | undefined; readonly vanished: Vanished };

export function going(pass: Pass, settings: Settings, confirm: Confirm): Going {
  const absence = pass.memory.absences.of(confirm, pass.now);
  const name = refText(confirm.source);
  const over = absence.since + settings.deleteGraceMs;
  if (over > pass.now) {
    const seconds = settings.deleteGraceMs / 1000;
    const reason = `source ${name} is absent; its copies end when it has been so for ${seconds}s`;
    return { kind: "grace", reason, dueAt: over };
  }
  const { unreadable } = absence;
  if (unreadable && unreadable.until > pass.now) {
    const reason = `source ${name} cannot be read: ${unreadable.reason}`;
    return { kind: "unreadable", reason, dueAt: unreadable.until };
  }
  const vanished = { key: absenceKey(confirm), since: absence.since };
  return { kind: "gone", confirm: absence.confirmed ? undefined : confirm, vanished };
}
