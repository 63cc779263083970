// Descriptions of TLS failures, because the codes of OpenSSL and Node are hard to read.

type Fault = { readonly codes: RegExp; readonly text: string };

const FAULTS: readonly Fault[] = [
  {
    codes:
      /^(?:DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_\w+|CERT_UNTRUSTED|CERT_SIGNATURE_FAILURE|CERT_REJECTED|CERT_REVOKED|CERT_CHAIN_TOO_LONG|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH_EXCEEDED)$/,
    text: "its certificate is not trusted: set certificate-authority or certificate-authority-data in the kubeconfig to the CA that signed it; with a proxy that replaces certificates, to the proxy's CA",
  },
  {
    codes: /^(?:CERT_HAS_EXPIRED|CERT_NOT_YET_VALID|CRL_HAS_EXPIRED|CRL_NOT_YET_VALID)$/,
    text: "its certificate has expired or is not valid yet: renew it, or correct the clock of this machine",
  },
  {
    codes: /^ERR_TLS_CERT_ALTNAME_INVALID$/,
    text: "its certificate is for other names: use one of them as the server's address, or set tls-server-name in the kubeconfig",
  },
  {
    codes: /^(?:EPROTO|ERR_SSL_\w+|ERR_TLS_\w+|ERR_OSSL_\w+)$/,
    text: "no TLS connection was agreed on: check that the address and port speak HTTPS, and the client certificate in the kubeconfig",
  },
];

/** What is wrong with the TLS connection that failed with `code`. Undefined if it failed for another reason. */
export function tlsFault(code: string): string | undefined {
  return FAULTS.find(({ codes }) => codes.test(code))?.text;
}
