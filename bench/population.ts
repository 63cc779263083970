// Secrets for a scripted server: foreign ones of 2 KB, sources, and the copies of them as a
// controller would have left them.
import { numbered } from "./cluster.ts";
import { secretJson } from "./scripted-server.ts";

const FOREIGN_BYTES = 2048;
const FOREIGN_DATA = {
  "config.yaml": Buffer.alloc((FOREIGN_BYTES * 3) / 4, "x").toString("base64"),
};
const DATA = { password: Buffer.from("not a secret").toString("base64") };
const MANAGED = { "app.kubernetes.io/managed-by": "secretcast" };

/** `total` Secrets of 2 KB, spread over the namespaces. */
export function* foreign(namespaces: readonly string[], total: number): Iterable<string> {
  for (let at = 0; at < total; at++) {
    const namespace = namespaces[at % namespaces.length] ?? "default";
    yield foreignSecret(namespace, at, 1);
  }
}

/** As many of somebody else's ConfigMaps, of the same size. */
export function* foreignMaps(namespaces: readonly string[], total: number): Iterable<string> {
  const data = JSON.stringify({ "app.conf": "x".repeat(2048) });
  for (let at = 0; at < total; at++) {
    const namespace = namespaces[at % namespaces.length] ?? "default";
    const secret: { metadata: unknown } = JSON.parse(foreignSecret(namespace, at, 1));
    const metadata = JSON.stringify(secret.metadata);
    yield `{"kind":"ConfigMap","apiVersion":"v1","metadata":${metadata},"data":${data}}`;
  }
}

export function foreignSecret(namespace: string, at: number, version: number): string {
  const labels = { app: `app-${at % 500}`, "app.kubernetes.io/instance": "release" };
  return secretJson(namespace, `foreign-${at}`, FOREIGN_DATA, { labels }, version);
}

export function* sources(count: number, to: string): Iterable<string> {
  for (const name of numbered("source", count))
    yield secretJson("shared", name, DATA, { annotations: { "secretcast.io/to": to } });
}

/** One correct copy of each source in each namespace. */
export function* copies(namespaces: readonly string[], sources: number): Iterable<string> {
  for (const namespace of namespaces)
    for (const name of numbered("source", sources))
      yield secretJson(namespace, name, DATA, {
        labels: MANAGED,
        annotations: {
          "secretcast.io/source": `shared/${name}`,
          "secretcast.io/source-uid": `shared-${name}`,
          "secretcast.io/source-version": "1",
          "secretcast.io/placed-at": `${namespace}/${name}`,
        },
      });
}

export function* both(...parts: readonly Iterable<string>[]): Iterable<string> {
  for (const part of parts) yield* part;
}
