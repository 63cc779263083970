// Normal Events for what became of copies: where a source was copied to, and where its copies were removed. The
// journal says when one is due. A pulling object has an Event at each write.
import type { Outcome } from "../writes/outcome.ts";
import type { EventStates } from "./event-states.ts";
import { copiedText, filledEvent, prefixOf, removedText } from "./event-texts.ts";
import type { LeaseRemovals } from "./lease-removals.ts";
import type { OutcomeGroup } from "./outcome-journal.ts";

/** If the source no longer exists or is another object, its removals have an Event on the Lease. */
export function sendDone(states: EventStates, onLease: LeaseRemovals, group: OutcomeGroup): void {
  const { entry, pulling, reason: removed } = group;
  if (pulling) return;
  const on = states.copiedFrom(group, group);
  if (!on) {
    if (removed !== undefined) onLease.add(group);
    return;
  }
  const named = entry !== undefined || states.mayName(group);
  const note = removed === undefined ? copiedText(group, named) : removedText(group, named);
  const reason = removed === undefined ? "Copied" : "Removed";
  states.send({ ...on, type: "Normal", reason, note: `${prefixOf(entry)}${note}` });
}

export function sendFilled(states: EventStates, { kind, action }: Outcome): void {
  const event = kind === "done" ? filledEvent(action) : undefined;
  if (event) states.send(event);
}
