// Reads `tls.crt` of the sources that have it, and of a copy where there is no source. This is the only part of the
// inventory that requests data. What may not be read is reported.
import { KINDS } from "../../controller/model/kinds.ts";
import { kindOfResource } from "../../inspect/kubectl/kind-words.ts";
import { mapAtOnce } from "../../inspect/requests/at-once.ts";
import { fieldsIn } from "../../inspect/requests/fields.ts";
import { getObject } from "../../inspect/requests/get.ts";
import { orRefusal } from "../../inspect/requests/refusal.ts";
import type { ApiClient } from "../../../packages/kube/rest/api-client.ts";
import { ApiError } from "../../../packages/kube/rest/api-error.ts";
import { listed } from "../../text/listed.ts";
import type { Ref } from "../../text/names.ts";
import {
  CERTIFICATE_KEY,
  readCertificate,
  type Certificate,
  type UnreadCertificate,
} from "./certificates.ts";
import { withCertificate, type InventoryItem } from "./inventory-items.ts";
import { TLS_TYPE } from "./object-facts.ts";

const AT_ONCE = 8;
/** Above the API server's limit on one object, with base64. */
const MOST_BYTES = 8 * 1024 * 1024;

export type Certified = {
  readonly items: readonly InventoryItem[];
  readonly unknown: readonly string[];
};

export async function readCertificates(
  client: ApiClient,
  items: readonly InventoryItem[],
  mayHaveCertificate: (resource: string, place: Ref) => boolean,
  nowMs: number,
  signal: AbortSignal,
): Promise<Certified> {
  const denied: string[] = [];
  const certified = await mapAtOnce(items, AT_ONCE, async (item) => {
    const places = item.isSource ? [item] : item.copies;
    const place = places.find((each) => mayHaveCertificate(item.resource, each));
    if (!place) return item;
    const certificate = await certificateOf(client, item, place, signal);
    if (certificate === "denied") denied.push(`${item.namespace}/${item.name}`);
    if (certificate === "denied" || certificate === "none") return item;
    return withCertificate(item, certificate, nowMs);
  });
  if (denied.length === 0) return { items: certified, unknown: [] };
  const line = `certificates cannot be read (403 Forbidden, --certificates needs get on them): ${listed(denied)}`;
  return { items: certified, unknown: [line] };
}

async function certificateOf(
  client: ApiClient,
  { resource, type }: InventoryItem,
  place: Ref,
  signal: AbortSignal,
): Promise<Certificate | UnreadCertificate | "denied" | "none"> {
  const kind = KINDS[kindOfResource(resource)];
  const limit = { mostBytes: MOST_BYTES };
  const raw = await orRefusal(getObject(client, kind.resource, place, signal, limit));
  if (raw instanceof ApiError) return raw.kind === "forbidden" ? "denied" : "none";
  const value = fieldsIn(fieldsIn(raw)["data"])[CERTIFICATE_KEY];
  if (value === undefined && type !== TLS_TYPE) return "none";
  if (typeof value !== "string" || value === "")
    return { unreadable: `${CERTIFICATE_KEY} is empty` };
  const isBase64 = kind.fields.some(
    (field) => field.name === "data" && field.encoding === "base64",
  );
  return readCertificate(isBase64 ? Buffer.from(value, "base64").toString("latin1") : value);
}
