// A list as an API server answers it, for kinds that the server of a test has not.

export function listBody(apiVersion: string, kind: string, items: readonly unknown[]): object {
  return { kind: `${kind}List`, apiVersion, metadata: { resourceVersion: "1" }, items };
}
