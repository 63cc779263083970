// The Dockerfile's base images as its FROM lines name them: by tag and, once Renovate has pinned them, by
// the digest behind it.

const FROM = /^FROM (\S+)(?: AS (\S+))?/gm;
const DIGEST = /@sha256:[0-9a-f]{64}$/;

/** The base images that no digest fixes, each once: what is built on them can be another tomorrow. */
export function unpinnedBases(dockerfile: string): readonly string[] {
  const stages = new Set<string>();
  const found = new Set<string>();
  for (const [, image = "", stage] of dockerfile.matchAll(FROM)) {
    if (!stages.has(image) && !DIGEST.test(image)) found.add(image);
    if (stage !== undefined) stages.add(stage);
  }
  return [...found];
}

/** With the tags alone: an image that stands in for a base has a digest of its own. */
export function byTagAlone(dockerfile: string): string {
  return dockerfile.replaceAll(FROM, (line, image: string) =>
    line.replace(image, image.replace(DIGEST, "")),
  );
}
