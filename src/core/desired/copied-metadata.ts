// Which labels and annotations of a source go onto its copies: those that it names, never those that
// make other controllers act, and no more than the API takes. Owner references, finalizers and
// managedFields are not metadata of this kind and are never copied at all.
import { tooManySteps, type GlobList } from "../annotations/globs.ts";
import { invalid, type Invalid } from "../annotations/result.ts";

type Texts = Readonly<Record<string, string>>;

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
  "clustersecret.io/*",
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

// A record may name thousands of keys, so the globs above become two look-ups: every one of them is a
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

export type Copied = {
  readonly labels: Texts;
  readonly annotations: Texts;
  /** The record of both: "label:KEY" and "annotation:KEY", sorted, joined by ",". */
  readonly record: string;
  readonly notes: readonly string[];
};

/** kube-apiserver: annotations' keys and values together, in bytes. */
const MOST_ANNOTATION_BYTES = 262_144;
/** Room for our own marks, whose values are two places (317 each), a UID and a version. */
const OUR_BYTES = 2048;

/** Labels of a namespace; labels, and annotations, of a source that says which of them are copied. */
export const MOST_METADATA_KEYS = 2000;

/** Why the labels or annotations of a source cannot be copied as it says, and which word says it. */
export function metadataExcess(
  labels: Texts,
  annotations: Texts,
  copyLabels: GlobList | undefined,
  copyAnnotations: GlobList | undefined,
): { readonly word: "copy-labels" | "copy-annotations"; readonly fault: Invalid } | undefined {
  const ofLabels = copyLabels && (tooWide(labels, copyLabels) ?? recordExcess(labels, copyLabels));
  if (ofLabels) return { word: "copy-labels", fault: ofLabels };
  const fault = copyAnnotations && tooWide(annotations, copyAnnotations);
  return fault && { word: "copy-annotations", fault };
}

function tooWide(texts: Texts, wanted: GlobList): Invalid | undefined {
  const keys = Object.keys(texts);
  if (keys.length <= MOST_METADATA_KEYS) return tooManySteps(wanted, keys);
  const expected = `at most ${MOST_METADATA_KEYS} labels and as many annotations on a source that copies some`;
  return invalid(wanted.text, expected).fault;
}

function recordExcess(labels: Texts, wanted: GlobList): Invalid | undefined {
  const record = choose(labels, wanted).map(([key]) => `label:${key}`);
  if (record.join(",").length <= MOST_ANNOTATION_BYTES - OUR_BYTES) return undefined;
  const expected = `fewer labels: the copies' record of them is longer than ${MOST_ANNOTATION_BYTES} bytes, the most that annotations may have`;
  return invalid(wanted.text, expected).fault;
}

/** Drops copied annotations that would not fit beside ours; what is dropped is noted. */
export function chooseMetadata(
  labels: Texts,
  annotations: Texts,
  copyLabels: GlobList | undefined,
  copyAnnotations: GlobList | undefined,
): Copied {
  const chosen = choose(labels, copyLabels);
  const record = chosen.map(([key]) => `label:${key}`);
  let room = MOST_ANNOTATION_BYTES - OUR_BYTES - record.join(",").length;
  const kept: [string, string][] = [];
  const notes: string[] = [];
  for (const [key, value] of choose(annotations, copyAnnotations)) {
    const mark = `annotation:${key}`;
    const bytes = key.length + Buffer.byteLength(value) + mark.length + 1;
    if (bytes > room) {
      notes.push(`annotation ${key} is not copied: annotations may not exceed 262144 bytes in all`);
      continue;
    }
    room -= bytes;
    record.push(mark);
    kept.push([key, value]);
  }
  return {
    labels: Object.fromEntries(chosen),
    annotations: Object.fromEntries(kept),
    record: record.toSorted().join(","),
    notes,
  };
}

function choose(texts: Texts, wanted: GlobList | undefined): (readonly [string, string])[] {
  if (!wanted) return [];
  return Object.entries(texts)
    .filter(([key]) => wanted.matches(key) && !isNeverCopied(key))
    .toSorted(([a], [b]) => (a < b ? -1 : 1));
}

const MOST_RECORDED = 2 * MOST_METADATA_KEYS;

/** What a copy's record names; keys that we never copy are passed over, whoever wrote them there. */
export function parseRecord(record: string): {
  readonly labels: readonly string[];
  readonly annotations: readonly string[];
} {
  const entries = record.split(",", MOST_RECORDED);
  const of = (prefix: string): string[] =>
    entries
      .filter((entry) => entry.startsWith(prefix))
      .map((entry) => entry.slice(prefix.length))
      .filter((key) => key !== "" && !isNeverCopied(key));
  return { labels: of("label:"), annotations: of("annotation:") };
}
