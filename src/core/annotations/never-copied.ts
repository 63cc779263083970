// Which keys of labels and annotations never go onto copies, since other controllers act on them, and
// which of those the administrator may let go by --copyable-keys.
import { hasPositive, METADATA_GLOBS, parseGlobList, type GlobList } from "./globs.ts";
import { invalid, type Result } from "./result.ts";

/** Globs over label and annotation keys; the README prints this list. */
export const NEVER_COPIED: readonly string[] = [
  "secretcast.io/*",
  "kubernetes.io/*",
  "*.kubernetes.io/*",
  "app.kubernetes.io/instance",
  "app.kubernetes.io/managed-by",
  "*argoproj.io/*",
  "*fluxcd.io/*",
  "helm.sh/*",
  "meta.helm.sh/*",
  "owner",
  "sealedsecrets.bitnami.com/*",
  "cert-manager.io/*",
  "*.cert-manager.io/*",
  "strimzi.io/*",
  "*external-secrets.io/*",
  "objectset.rio.cattle.io/*",
  "kapp.k14s.io/*",
  "reflector.v1.k8s.emberstack.com/*",
  "*replicator.v1.mittwald.de/*",
  "kubed.appscode.com/*",
  "clustersecret.io",
  "clustersecret.io/*",
  "kopf.zalando.org/*",
  "projection.sh/*",
  "clustersecrets.core.cs.sap.com/*",
  "eightypercent.net/*",
  "replicator.nadundesilva.github.io/*",
  "secret-copier.deckhouse.io/*",
  "secretgen.carvel.dev/*",
  "projectcapsule.dev/*",
  "*.projectcapsule.dev/*",
  "*hnc.x-k8s.io/*",
  "*kyverno.io/*",
  "alexellis.io/*",
  "k8s.titansoft.com/*",
];

/** Of the keys above, these may be copied all the same. */
export const COPIED_ANYWAY: readonly string[] = ["app.kubernetes.io/*"];

/** Of all these, no flag lets these go: our own, one that holds every value, and our label. */
export const NEVER_RELEASED: readonly string[] = [
  "secretcast.io/*",
  "kubectl.kubernetes.io/*",
  "app.kubernetes.io/managed-by",
];

// A source may have thousands of keys, so the globs above become two look-ups: every one of them is a
// whole key, "DOMAIN/*" or "*SUFFIX/*".
const whole = new Set(NEVER_COPIED.filter((glob) => !glob.endsWith("/*")));
const domains = NEVER_COPIED.filter((glob) => glob.endsWith("/*")).map((glob) => glob.slice(0, -2));
const exact = new Set(domains.filter((domain) => !domain.startsWith("*")));
const suffixes = domains.filter((domain) => domain.startsWith("*")).map((glob) => glob.slice(1));
const spared = new Set(COPIED_ANYWAY.map((glob) => glob.slice(0, -2)));

export function isNeverCopied(key: string): boolean {
  if (whole.has(key)) return true;
  const slash = key.indexOf("/");
  if (slash < 0) return false;
  const domain = key.slice(0, slash);
  if (spared.has(domain)) return false;
  return exact.has(domain) || suffixes.some((suffix) => domain.endsWith(suffix));
}

const neverDomains = new Set(
  NEVER_RELEASED.filter((glob) => glob.endsWith("/*")).map((glob) => glob.slice(0, -2)),
);
const neverKeys = new Set(NEVER_RELEASED.filter((glob) => !glob.endsWith("/*")));

export function isNeverReleased(key: string): boolean {
  const slash = key.indexOf("/");
  return neverKeys.has(key) || (slash >= 0 && neverDomains.has(key.slice(0, slash)));
}

/** `copyable`: what the source may have copied of the keys above. */
export function mayBeCopied(key: string, copyable: GlobList | undefined): boolean {
  if (!isNeverCopied(key)) return true;
  return copyable?.matches(key) === true && !isNeverReleased(key);
}

/** The value of --copyable-keys. */
export function parseCopyableKeys(entries: readonly string[]): Result<GlobList> {
  const text = entries.join(",");
  const list = parseGlobList(text, METADATA_GLOBS, "");
  if (!list.ok) return list;
  const never = entries.find(isNeverReleased);
  if (never !== undefined) {
    const expected = `keys that may be copied: ${NEVER_RELEASED.join(", ")} never are`;
    return invalid(never, expected);
  }
  return hasPositive(text) ? list : invalid(text, 'a glob without "!" as well');
}
