// The stores of External Secrets: whether one reads Secrets of this cluster, the namespace of these, and
// which namespaces may use it. Every other store is left as it is.
import { fields, objectsIn, textsOf, type OldCustom, type RawFields } from "../old-objects.ts";
import { readLabelSelector, type LabelSelector } from "../label-selectors.ts";
import type { NamespaceSet } from "../rule-targets.ts";
import { stringOf } from "../../../controller/model/unstructured.ts";

export type ExternalStore =
  | {
      readonly kind: "here";
      readonly title: string;
      /** The namespace of its Secrets. */
      readonly namespace: string;
      /** The service account that reads them. Undefined when another credential does. */
      readonly account: string | undefined;
      /** The namespaces that may use it. Undefined means every namespace. */
      readonly within: NamespaceSet | undefined;
    }
  | {
      readonly kind: "left";
      readonly title: string;
      readonly why: string;
      /** Its provider is another one, so that it certainly reads no Secret of this cluster. */
      readonly isOther: boolean;
    };

export type ExternalStores = {
  /** `namespace`: of the ExternalSecret. Undefined for the rule of many namespaces. */
  storeOf(reference: unknown, namespace: string | undefined): ExternalStore;
};

/** `controllerClass`: the class of the operator, which leaves stores of another class alone. */
export function readStores(customs: readonly OldCustom[], controllerClass: string): ExternalStores {
  const stores = new Map<string, ExternalStore>();
  for (const custom of customs) {
    if (custom.kind !== "ClusterSecretStore" && custom.kind !== "SecretStore") continue;
    const title = titleOf(custom.kind, custom.namespace, custom.name);
    const { conditions, ...spec } = fields(custom.fields["spec"]);
    // A store of one namespace has no other users.
    const limits = custom.kind === "SecretStore" ? undefined : conditions;
    const store = readStore(title, { ...spec, conditions: limits }, controllerClass);
    const account = accountOf(spec, custom.namespace);
    stores.set(title, store.kind === "here" ? { ...store, account } : store);
  }
  return {
    storeOf: (reference, namespace) => {
      const { kind, name } = fields(reference);
      if (kind === "ClusterSecretStore")
        return found(stores, titleOf(kind, undefined, stringOf(name)));
      if (namespace !== undefined) {
        return found(stores, titleOf("SecretStore", namespace, stringOf(name)));
      }
      const title = `SecretStore ${stringOf(name)}`;
      return {
        kind: "left",
        title,
        isOther: false,
        why: "each namespace has its own, which may name another source",
      };
    },
  };
}

function titleOf(kind: string, namespace: string | undefined, name: string): string {
  return `${kind} ${namespace === undefined ? "" : `${namespace}/`}${name}`;
}

function found(stores: ReadonlyMap<string, ExternalStore>, title: string): ExternalStore {
  return stores.get(title) ?? { kind: "left", title, why: "it is not there", isOther: false };
}

function readStore(title: string, spec: RawFields, controllerClass: string): ExternalStore {
  const left = (why: string, isOther = false): ExternalStore => {
    return { kind: "left", title, why, isOther };
  };
  const [provider = "none"] = Object.keys(fields(spec["provider"]));
  if (provider !== "kubernetes") return left(`its provider is ${provider}, not this cluster`, true);
  const { server, authRef, remoteNamespace } = fields(fields(spec["provider"])["kubernetes"]);
  // A kubeconfig in a Secret may name any cluster.
  if (authRef !== undefined) return left("its kubeconfig (authRef) may name another cluster");
  const url = stringOf(fields(server)["url"]);
  if (!isThisCluster(url))
    return left(`its server is ${url}, which is not known to be this cluster`);
  const own = stringOf(spec["controller"]);
  if (own !== "" && own !== controllerClass) {
    return left(`it is for the controller class ${own} (--old-args=--controller-class=${own})`);
  }
  const within = readConditions(spec["conditions"]);
  if (typeof within === "string") return left(within);
  const namespace = stringOf(remoteNamespace) || "default";
  return { kind: "here", title, namespace, within, account: undefined };
}

/** A store of a namespace has an account of this namespace. */
function accountOf(spec: RawFields, own: string | undefined): string | undefined {
  const { auth } = fields(fields(spec["provider"])["kubernetes"]);
  const { name, namespace } = fields(fields(auth)["serviceAccount"]);
  const home = own ?? stringOf(namespace);
  if (typeof name !== "string" || name === "" || home === "") return undefined;
  return `system:serviceaccount:${home}:${name}`;
}

// Another domain behind "svc" may be that of another cluster.
const THIS_CLUSTER =
  /^(?:https:\/\/)?kubernetes\.default(?:\.svc(?:\.cluster\.local)?)?(?::443)?\/?$/;

function isThisCluster(url: string): boolean {
  return url === "" || THIS_CLUSTER.test(url);
}

// One condition that holds is enough, and of its parts one as well.
function readConditions(conditions: unknown): NamespaceSet | undefined | string {
  const all = objectsIn(conditions);
  if (all.length === 0) return undefined;
  const selectors: LabelSelector[] = [];
  const names: string[] = [];
  const patterns: string[] = [];
  for (const condition of all) {
    const { namespaceSelector, namespaces, namespaceRegexes } = condition;
    names.push(...(textsOf(namespaces) ?? []));
    patterns.push(...(textsOf(namespaceRegexes) ?? []));
    if (namespaceSelector === undefined) continue;
    const selector = readLabelSelector(namespaceSelector);
    if (typeof selector === "string") return `its conditions cannot be read: ${selector}`;
    selectors.push(selector);
  }
  return { names, selectors, patterns };
}
