// A scene with a source list: in a namespace of the scene's own, which its controllers take for theirs,
// with the rights there that the manifests give in the namespace of an installation.
import type { TestContext } from "node:test";
import { LineSplitter } from "../../../packages/kube/cache/watch-decoder.ts";
import type { ApiClient, ApiStream } from "../../../packages/kube/rest/api-client.ts";
import { ACCOUNT } from "../api-server/account.ts";
import { eventually } from "../../../packages/kube/testing/eventually.ts";
import { openScene, type Scene } from "./scene.ts";

export const LIST = "secretcast-sources";
const RBAC = "/apis/rbac.authorization.k8s.io/v1";

export type Listing = {
  readonly scene: Scene;
  /** The controller's own namespace. */
  readonly own: string;
  /** The list says this from now on; undefined: there is none. */
  readonly write: (
    entries: Readonly<Record<string, string>> | undefined,
    annotations?: Readonly<Record<string, string>>,
  ) => Promise<void>;
};

export async function openListing(t: TestContext): Promise<Listing> {
  const scene = await openScene(t);
  const own = await scene.namespace("own");
  if (!scene.sandbox) await grant(scene, own);
  scene.given = { "lease-namespace": own };
  const write: Listing["write"] = (entries, annotations = {}) =>
    scene.api.putConfigMap(own, LIST, entries, annotations);
  return { scene, own, write };
}

/** The rights that the manifests give in the namespace of an installation. */
async function grant({ api }: Scene, namespace: string): Promise<void> {
  const metadata = { name: "list", namespace };
  const rule = {
    apiGroups: [""],
    resources: ["configmaps"],
    resourceNames: [LIST],
    verbs: ["get", "list", "watch"],
  };
  const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "list" };
  const [, , , name] = ACCOUNT.split(":");
  const subjects = [{ kind: "ServiceAccount", namespace: "secretcast", name }];
  const post = (plural: string, body: object) =>
    api.client.request({
      method: "POST",
      path: `${RBAC}/namespaces/${namespace}/${plural}`,
      body: { metadata, ...body },
      what: `create ${plural}`,
    });
  // As the manifests have them: it looks at its Lease also where it does not lead by one.
  const leases = { apiGroups: ["coordination.k8s.io"], resources: ["leases"] };
  const rules = [
    rule,
    { ...leases, verbs: ["create"] },
    { ...leases, resourceNames: ["secretcast"], verbs: ["get", "update"] },
  ];
  await post("roles", { rules });
  await post("rolebindings", { roleRef, subjects });
  await eventually("the right is given", () => mayRead(api.client, namespace));
}

// The API server needs a moment to see what was granted.
async function mayRead(client: ApiClient, namespace: string): Promise<boolean> {
  const resourceAttributes = { namespace, verb: "list", resource: "configmaps", name: LIST };
  const answer = await client.request<{ readonly status: { readonly allowed: boolean } }>({
    method: "POST",
    path: "/apis/authorization.k8s.io/v1/subjectaccessreviews",
    body: { spec: { user: ACCOUNT, resourceAttributes } },
    what: "ask for rights",
  });
  return answer.status.allowed;
}

/**
 * As a version before the source list sees the cluster: the mark that its copies carry is a key that it
 * does not know. It reads no list either.
 */
export function beforeTheList(client: ApiClient): ApiClient {
  const blind = (text: string): string =>
    text.replaceAll("secretcast.io/entry", "secretcast.io/of-a-newer-version");
  return {
    server: client.server,
    reachability: client.reachability,
    request: async <T>(...args: Parameters<ApiClient["request"]>): Promise<T> =>
      JSON.parse(blind(JSON.stringify(await client.request<T>(...args)))) as T,
    open: async (...args) => {
      const stream: ApiStream = await client.open(...args);
      return {
        status: stream.status,
        contentType: stream.contentType,
        headers: stream.headers,
        body: changedLines(stream.body, blind),
        close: () => stream.close(),
      };
    },
    close: () => client.close(),
  };
}

async function* changedLines(
  body: ApiStream["body"],
  change: (line: string) => string,
): AsyncGenerator<Uint8Array> {
  const lines = new LineSplitter();
  for await (const chunk of body)
    for (const line of lines.push(chunk)) yield Buffer.from(`${change(line)}\n`);
}
