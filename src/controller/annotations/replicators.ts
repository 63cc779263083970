// Other replicators: the images of their Pods, and the keys of their labels and annotations.

export type Replicator = {
  readonly title: string;
  /** The name of its image, whatever the registry. Absent: no image of it is known. */
  readonly image?: RegExp;
  /** What stands before the slash of its keys. `*replicator.example.com` covers a longer name as well. */
  readonly domains: readonly string[];
};

export const REPLICATORS = {
  reflector: {
    title: "Reflector",
    image: imageOf("kubernetes-reflector"),
    domains: ["reflector.v1.k8s.emberstack.com"],
  },
  replicator: {
    title: "kubernetes-replicator",
    image: imageOf("kubernetes-replicator"),
    domains: ["*replicator.v1.mittwald.de"],
  },
  kubed: {
    title: "Config Syncer (kubed)",
    image: /(^|\/)(kubed|config-syncer)([:@]|$)/,
    domains: ["kubed.appscode.com"],
  },
  clustersecret: {
    title: "ClusterSecret",
    image: /(^|\/)clustersecret([-/:@]|$)/i,
    domains: ["clustersecret.io"],
  },
  tgik: {
    title: "the TGIK controller",
    image: imageOf("tgik-controller"),
    domains: ["eightypercent.net"],
  },
  registryCreds: {
    title: "registry-creds",
    image: /(^|\/)registry-creds(-controller)?([:@]|$)/,
    domains: ["alexellis.io"],
  },
  patcher: {
    title: "imagepullsecret-patcher",
    image: /(^|\/)imagepullsecret-patcher([:@]|$)/,
    domains: ["k8s.titansoft.com"],
  },
  hnc: { title: "HNC", image: /(^|\/)hnc-manager([:@]|$)/, domains: [] },
  kopf: { title: "kopf, of ClusterSecret", domains: ["kopf.zalando.org"] },
  projection: { title: "Projection", domains: ["projection.sh"] },
  sap: { title: "ClusterSecret of SAP", domains: ["clustersecrets.core.cs.sap.com"] },
  nadundesilva: { title: "k8s-replicator", domains: ["replicator.nadundesilva.github.io"] },
  deckhouse: { title: "secret-copier", domains: ["secret-copier.deckhouse.io"] },
  synator: { title: "synator", domains: ["synator"] },
} satisfies Readonly<Record<string, Replicator>>;

// A registry that mirrors images may put its own words before the name.
function imageOf(name: string): RegExp {
  return new RegExp(String.raw`(^|/)[\w.-]*${name}([:@]|$)`);
}
