// Which keys of labels and annotations are never copied, because other controllers act on them, and which of
// those the administrator can allow by --copyable-keys.
import { REPLICATORS } from "./replicators.ts";
import { hasPositive, METADATA_GLOBS, parseGlobList, type GlobList } from "../../text/globs.ts";
import { invalid, type Result } from "../../text/result.ts";

/** Globs over label and annotation keys. docs/reference.md prints this list. */
export const NEVER_COPIED: readonly string[] = [
  // secretcast and Kubernetes, whose projects prune by these domains as well.
  "secretcast.io/*",
  "kubernetes.io/*",
  "*.kubernetes.io/*",
  "k8s.io/*",
  "*.k8s.io/*",
  "*.x-k8s.io/*",
  "app.kubernetes.io/instance",
  "app.kubernetes.io/managed-by",
  // Tools that deploy. They delete what carries their marks and is not in their source.
  "*argoproj.io/*",
  "*fluxcd.io/*",
  "helm.sh/*",
  "meta.helm.sh/*",
  "owner",
  "cattle.io/*",
  "*.cattle.io/*",
  "*.k14s.io/*",
  "*.carvel.dev/*",
  "configsync.gke.io/*",
  "configmanagement.gke.io/*",
  "cnrm.cloud.google.com/*",
  "crossplane.io/*",
  "*.crossplane.io/*",
  "operators.coreos.com/*",
  "*.operatorframework.io/*",
  "olm.managed",
  "olm.owner",
  "olm.owner.kind",
  "olm.owner.namespace",
  "*.open-cluster-management.io/*",
  "*karmada.io/*",
  "*.oam.dev/*",
  "*kpt.dev/*",
  "kluctl.io/*",
  "kubecfg.ksonnet.io/*",
  "projectsveltos.io/*",
  "pulumi.com/*",
  "qbec.io/*",
  "tanka.dev/*",
  // Tools that delete what is too old, and that restore.
  "janitor/*",
  "k8s-ttl-controller.twin.sh/*",
  "velero.io/*",
  // Operators that make, fill, rotate or delete Secrets and ConfigMaps, or keep values in annotations.
  "sealedsecrets.bitnami.com/*",
  "cert-manager.io/*",
  "*.cert-manager.io/*",
  "trust-manager.io/*",
  "strimzi.io/*",
  "*external-secrets.io/*",
  "operator.1password.io/*",
  "secrets.hashicorp.com/*",
  "secret-generator.v1.mittwald.de/*",
  "banzaicloud.com/*",
  "*.banzaicloud.io/*",
  "*.bank-vaults.io/*",
  "*.k8s.elastic.co/*",
  "k8ssandra.io/*",
  "*openshift.io/*",
  // Other replicators.
  "clustersecret.io",
  ...Object.values(REPLICATORS).flatMap(({ domains }) => domains.map((each) => `${each}/*`)),
  // Tenancy and policy.
  "projectcapsule.dev/*",
  "*.projectcapsule.dev/*",
  "vcluster.loft.sh/*",
  "*kyverno.io/*",
];

/** Exceptions from the keys above, which may be copied. */
export const COPIED_ANYWAY: readonly string[] = ["app.kubernetes.io/*"];

/** No flag releases these: our own, one that holds every value, and our label. */
export const NEVER_RELEASED: readonly string[] = [
  "secretcast.io/*",
  "kubectl.kubernetes.io/*",
  "app.kubernetes.io/managed-by",
];

// A source may have thousands of keys, so these globs become look-ups: every one of them is a whole key,
// "DOMAIN/*" or "*SUFFIX/*".
class KeyGlobs {
  readonly #keys: ReadonlySet<string>;
  readonly #domains: ReadonlySet<string>;
  readonly #suffixes: readonly string[];

  constructor(globs: readonly string[]) {
    this.#keys = new Set(globs.filter((glob) => !glob.endsWith("/*")));
    const domains = globs.filter((glob) => glob.endsWith("/*")).map((glob) => glob.slice(0, -2));
    this.#domains = new Set(domains.filter((domain) => !domain.startsWith("*")));
    this.#suffixes = domains
      .filter((domain) => domain.startsWith("*"))
      .map((domain) => domain.slice(1));
  }

  name(key: string): boolean {
    return this.#keys.has(key);
  }

  cover(key: string): boolean {
    const slash = key.indexOf("/");
    if (slash < 0) return false;
    const domain = key.slice(0, slash);
    return this.#domains.has(domain) || this.#suffixes.some((suffix) => domain.endsWith(suffix));
  }
}

const never = new KeyGlobs(NEVER_COPIED);
const anyway = new KeyGlobs(COPIED_ANYWAY);
const unreleased = new KeyGlobs(NEVER_RELEASED);

export function isNeverCopied(key: string): boolean {
  return never.name(key) || (never.cover(key) && !anyway.cover(key));
}

export function isNeverReleased(key: string): boolean {
  return unreleased.name(key) || unreleased.cover(key);
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
