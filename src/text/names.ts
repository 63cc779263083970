// The forms of Kubernetes' names, as the API server checks them, and the texts that describe them. No regular
// expression here backtracks: each is one run of a character class.

const DNS_LABEL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const QUALIFIED = /^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$/;
const DATA_KEY = /^[-._a-zA-Z0-9]+$/;

export const SECRET_NAME_FORM = 'a name: at most 253 lower-case letters, digits, "-" and "."';
export const REF_FORM = "NAMESPACE/NAME of a source";
export const DATA_KEY_FORM = 'a data key: at most 253 letters, digits, "-", "_" and "."';
export const LABEL_KEY_FORM =
  'a label key: at most 63 letters, digits, "-", "_" and ".", after an optional DNS prefix and "/"';
export const LABEL_VALUE_FORM =
  'a label value: at most 63 letters, digits, "-", "_" and ".", ends alphanumeric';

/** RFC 1123 label. */
export function isNamespaceName(text: string): boolean {
  return text.length <= 63 && DNS_LABEL.test(text);
}

/** RFC 1123 subdomain, the form of a Secret's name. */
export function isSecretName(text: string): boolean {
  return (
    text.length <= 253 && text !== "" && text.split(".").every((label) => DNS_LABEL.test(label))
  );
}

export function isDataKey(text: string): boolean {
  return text.length <= 253 && text !== "." && !text.startsWith("..") && DATA_KEY.test(text);
}

export function isLabelKey(text: string): boolean {
  const slash = text.indexOf("/");
  const name = text.slice(slash + 1);
  if (name.length > 63 || !QUALIFIED.test(name)) return false;
  return slash < 0 || isSecretName(text.slice(0, slash));
}

export function isLabelValue(text: string): boolean {
  return text === "" || (text.length <= 63 && QUALIFIED.test(text));
}

/** Parses "NAMESPACE/NAME". Undefined for any other text. */
export function parseRef(text: string): { namespace: string; name: string } | undefined {
  const slash = text.indexOf("/");
  if (slash < 0 || text.length > 63 + 1 + 253) return undefined;
  const namespace = text.slice(0, slash);
  const name = text.slice(slash + 1);
  return isNamespaceName(namespace) && isSecretName(name) ? { namespace, name } : undefined;
}

export type Ref = { readonly namespace: string; readonly name: string };

/** "NAMESPACE/NAME": the key of places and sources in maps, logs and reports. */
export function refText(ref: Ref): string {
  return `${ref.namespace}/${ref.name}`;
}

/** As an object names its group and version. */
export function apiVersionOf({
  group,
  version,
}: {
  readonly group: string;
  readonly version: string;
}): string {
  return group === "" ? version : `${group}/${version}`;
}
