// Places whose copy was deleted for its successor (state/reservations.ts), as one plan sees them.
import type { Sources } from "../desired/sources.ts";
import { matchOf, type TargetNamespace } from "../desired/targets.ts";
import type { Reservation } from "../state/reservations.ts";
import type { PlanBuilder } from "./plan-builder.ts";

const PER_TURN = 64;

/**
 * Ends each reservation whose place has an object again, or whose source is not valid or does not want the place.
 * Runs after the places were judged.
 */
export function* endReservations(
  planBuilder: PlanBuilder,
  sources: Sources,
  targets: ReadonlyMap<string, TargetNamespace>,
): Generator<undefined, void> {
  const { kind, memory } = planBuilder;
  const { reservations } = memory.shared;
  for (const [index, reservation] of reservations.of(kind).entries()) {
    if (index % PER_TURN === PER_TURN - 1) yield;
    const { place } = reservation;
    const target = targets.get(place.namespace);
    if (!planBuilder.isInFlight(place) && !isOpen(reservation, sources, target))
      reservations.end(reservation);
  }
}

function isOpen(
  { place: { name }, source }: Reservation,
  sources: Sources,
  target: TargetNamespace | undefined,
): boolean {
  if (target?.unreadable.has(name) === true) return true;
  // A finalizer may hold the old copy.
  if (!target || target.secrets.get(name)?.deleting === false) return false;
  const candidate = sources.candidateOf(source);
  return candidate?.source.rule.copyName === name && matchOf(candidate, target) === "wanted";
}
