// Objects of other tools' own kinds, and the Secrets beside them, as short texts.
type Texts = Readonly<Record<string, string>>;

export function namespace(name: string, labels: Texts = {}): object {
  return { apiVersion: "v1", kind: "Namespace", metadata: { name, labels } };
}

type SecretParts = {
  readonly type?: string;
  readonly immutable?: boolean;
  readonly labels?: Texts;
  readonly annotations?: Texts;
  readonly ownerReferences?: readonly object[];
};

/** `place`: NAMESPACE/NAME. Values are plain. */
export function plainSecret(place: string, values: Texts, parts: SecretParts = {}): object {
  const { type = "Opaque", immutable, ...metadata } = parts;
  const [home, name] = place.split("/");
  return {
    apiVersion: "v1",
    kind: "Secret",
    type,
    ...(immutable === undefined ? {} : { immutable }),
    metadata: { uid: `uid of ${place}`, resourceVersion: "1", ...metadata, namespace: home, name },
    data: Object.fromEntries(
      Object.entries(values).map(([key, value]) => [key, Buffer.from(value).toString("base64")]),
    ),
  };
}

/** `place`: NAME, or NAMESPACE/NAME. */
export function custom(
  apiVersion: string,
  kind: string,
  place: string,
  spec: object,
  metadata: object = {},
): object {
  const [name = "", home] = place.split("/").toReversed();
  const own = { name, ...(home === undefined ? {} : { namespace: home }) };
  return { apiVersion, kind, metadata: { uid: `uid of ${place}`, ...own, ...metadata }, spec };
}
