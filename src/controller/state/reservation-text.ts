// Reservations as the text of one annotation. What is malformed is ignored, and so is what exceeds the
// limits of the writer: a user who can edit the Lease can write anything there.
import { parseRef, refText } from "../../text/names.ts";
import { PREFIX } from "../annotations/vocabulary.ts";
import { OBJECT_KINDS } from "../model/kinds.ts";
import type { Reservation } from "../model/actions.ts";
import { MOST_LASTING } from "./reservations.ts";

/** On the controller's Lease. */
export const RESERVATIONS_KEY = `${PREFIX}reservations`;
/** All annotations of an object together have 256 KiB. */
export const LONGEST_RESERVATIONS = 192 * 1024;
/** Writes in flight may add to MOST_LASTING. */
const MOST_READ = 2 * MOST_LASTING;
const LONGEST_UID = 128;

/** Returns undefined without reservations. */
export function reservationText(reservations: readonly Reservation[]): string | undefined {
  if (reservations.length === 0) return undefined;
  return JSON.stringify(
    reservations.map(({ kind, place, namespaceUid, source, copyUid }) => ({
      kind,
      place: refText(place),
      namespaceUID: namespaceUid,
      source: refText(source),
      copyUID: copyUid,
    })),
  );
}

export function parseReservations(text: string | undefined): readonly Reservation[] {
  if (text === undefined || text.length > LONGEST_RESERVATIONS) return [];
  const list = parsed(text);
  return Array.isArray(list) ? list.slice(0, MOST_READ).flatMap(reservationOf) : [];
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function reservationOf(value: unknown): readonly Reservation[] {
  const fields: ReadonlyMap<string, unknown> = new Map(Object.entries(value ?? {}));
  const textOf = (field: string): string => {
    const text = fields.get(field);
    return typeof text === "string" ? text : "";
  };
  const kind = OBJECT_KINDS.find((each) => each === textOf("kind"));
  const [place, source] = [parseRef(textOf("place")), parseRef(textOf("source"))];
  const [namespaceUid, copyUid] = [textOf("namespaceUID"), textOf("copyUID")];
  const formed = [namespaceUid, copyUid].every((uid) => uid !== "" && uid.length <= LONGEST_UID);
  if (!kind || !place || !source || !formed) return [];
  return [{ kind, place, namespaceUid, source, copyUid, lasting: true }];
}
