// What `tls.crt` says of itself: subject, issuer and dates. Promises: nothing else of the value leaves this file, and
// no error quotes it. Size and number of certificates are limited.
import { X509Certificate } from "node:crypto";
import { isoTime } from "../../controller/settings/due-text.ts";

export const CERTIFICATE_KEY = "tls.crt";

export type Certificate = {
  readonly subject: string;
  readonly issuer: string;
  /** RFC 3339, of the first certificate. */
  readonly notBefore: string;
  readonly notAfter: string;
  /** How many certificates the entry has, and the earliest end among them. */
  readonly chain: number;
  readonly earliestExpiry: string;
};

/** Why there is no answer. */
export type UnreadCertificate = { readonly unreadable: string };

const BEGIN = "-----BEGIN CERTIFICATE-----";
const END = "-----END CERTIFICATE-----";
const MOST_BYTES = 256 * 1024;
const MOST_CERTIFICATES = 100;
const LONGEST_NAME = 500;

export function readCertificate(pem: string): Certificate | UnreadCertificate {
  if (pem.length > MOST_BYTES)
    return { unreadable: `${CERTIFICATE_KEY} is longer than ${MOST_BYTES} bytes` };
  const blocks = blocksOf(pem);
  if (blocks.length > MOST_CERTIFICATES)
    return { unreadable: `${CERTIFICATE_KEY} has more than ${MOST_CERTIFICATES} certificates` };
  const certificates = blocks.flatMap(parsed);
  const [first] = certificates;
  if (!first) return { unreadable: `${CERTIFICATE_KEY} has no certificate that can be read` };
  if (certificates.length < blocks.length)
    return { unreadable: `a certificate of ${CERTIFICATE_KEY} cannot be read` };
  const earliest = Math.min(...certificates.map(({ validTo }) => Date.parse(validTo)));
  return {
    subject: nameOf(first.subject),
    issuer: nameOf(first.issuer),
    notBefore: isoTime(Date.parse(first.validFrom)),
    notAfter: isoTime(Date.parse(first.validTo)),
    chain: certificates.length,
    earliestExpiry: isoTime(earliest),
  };
}

function blocksOf(pem: string): readonly string[] {
  const blocks: string[] = [];
  for (let at = 0; blocks.length <= MOST_CERTIFICATES;) {
    const begin = pem.indexOf(BEGIN, at);
    const end = begin < 0 ? -1 : pem.indexOf(END, begin);
    if (begin < 0) return blocks;
    at = end < 0 ? pem.length : end + END.length;
    blocks.push(pem.slice(begin, at));
  }
  return blocks;
}

function parsed(block: string): readonly X509Certificate[] {
  try {
    const certificate = new X509Certificate(block);
    const { validFrom, validTo } = certificate;
    const dated = ![validFrom, validTo].some((date) => Number.isNaN(Date.parse(date)));
    return dated ? [certificate] : [];
  } catch {
    // Its message may quote the value.
    return [];
  }
}

/** OpenSSL prints one part of a name per line. A certificate may have an empty subject. */
function nameOf(name: string | undefined): string {
  return (name ?? "").trim().replaceAll("\n", ", ").slice(0, LONGEST_NAME);
}
