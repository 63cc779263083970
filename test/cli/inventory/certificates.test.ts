// What tls.crt says of itself, and that nothing else of it is shown.
import assert from "node:assert/strict";
import { test } from "node:test";
import { readCertificate } from "../../../src/cli/inventory/certificates.ts";
import { withLimits, type InventoryItem } from "../../../src/cli/inventory/inventory-items.ts";
import { ONE } from "../../../packages/kube/testing/certificates.ts";
import { ENDS_2031, ENDS_AT } from "../../support/cli/short-certificate.ts";

test("of a chain, the first certificate is named, and the earliest end counts", () => {
  assert.deepEqual(readCertificate(`Bag Attributes\n${ONE.cert}${ENDS_2031}`), {
    subject: "CN=one",
    issuer: "CN=one",
    notBefore: "2026-11-21T03:49:26.000Z",
    notAfter: "2126-10-28T03:49:26.000Z",
    chain: 2,
    earliestExpiry: ENDS_AT,
  });
});

test("what cannot be read is said in own words, without a word of the value", () => {
  const begin = "-----BEGIN CERTIFICATE-----";
  for (const [pem, unreadable] of [
    ["hunter2", "tls.crt has no certificate that can be read"],
    ["", "tls.crt has no certificate that can be read"],
    [`${begin}\nhunter2`, "tls.crt has no certificate that can be read"],
    [
      `${begin}\nhunter2\n-----END CERTIFICATE-----\n`,
      "tls.crt has no certificate that can be read",
    ],
    [ONE.key, "tls.crt has no certificate that can be read"],
    [`${ONE.cert}${begin}\nhunter2`, "a certificate of tls.crt cannot be read"],
    ["x".repeat(256 * 1024 + 1), "tls.crt is longer than 262144 bytes"],
    [begin.repeat(9000), "tls.crt has no certificate that can be read"],
    [ENDS_2031.repeat(101), "tls.crt has more than 100 certificates"],
  ] as const)
    assert.deepEqual(readCertificate(pem), { unreadable });
});

test("a certificate that is not valid yet is no valid one, however late it ends", () => {
  const now = Date.parse("2026-01-01T00:00:00Z");
  const certificate = readCertificate(ONE.cert);
  assert.ok("notBefore" in certificate);
  const item: InventoryItem = {
    resource: "secrets",
    namespace: "shared",
    name: "wildcard",
    isSource: true,
    keys: [],
    value: { known: "unknown" },
    copies: [],
    over: [],
    unsure: [],
  };
  const limits = { maxAgeMs: undefined, minValidityMs: 1 };
  const over = (notBefore: string) =>
    withLimits({ ...item, certificate: { ...certificate, notBefore } }, limits, now).over;
  assert.deepEqual(over("2026-01-01T00:00:01Z"), ["min-validity"]);
  assert.deepEqual(over("2026-01-01T00:00:00Z"), []);
});
