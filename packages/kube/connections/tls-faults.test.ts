import assert from "node:assert/strict";
import { test } from "node:test";
import { tlsFault } from "./tls-faults.ts";

test("each fault of a TLS connection says what is wrong and which setting mends it", () => {
  const words: Readonly<Record<string, RegExp>> = {
    SELF_SIGNED_CERT_IN_CHAIN: /not trusted: set certificate-authority/,
    DEPTH_ZERO_SELF_SIGNED_CERT: /not trusted/,
    UNABLE_TO_VERIFY_LEAF_SIGNATURE: /not trusted/,
    UNABLE_TO_GET_ISSUER_CERT_LOCALLY: /not trusted/,
    CERT_HAS_EXPIRED: /expired/,
    CERT_NOT_YET_VALID: /clock/,
    ERR_TLS_CERT_ALTNAME_INVALID: /tls-server-name/,
    ERR_SSL_WRONG_VERSION_NUMBER: /HTTPS/,
    EPROTO: /HTTPS/,
  };
  for (const [code, said] of Object.entries(words)) assert.match(tlsFault(code) ?? "", said, code);
  assert.equal(tlsFault("ECONNREFUSED"), undefined);
});
