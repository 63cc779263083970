// Loads the example of manifests/example into an API server, checks the controller's results through the
// API, and shows them as a table.
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { isDeepStrictEqual } from "node:util";
import { loadAll } from "js-yaml";
import type { ApiClient } from "../../../packages/kube/rest/api-client.ts";
import {
  DEPLOYMENTS,
  NAMESPACES,
  resourcePath,
  SECRETS,
} from "../../../packages/kube/rest/resource.ts";
import type { FlagValues } from "../../controller/settings/config.ts";
import { isRecord } from "../../../packages/kube/json.ts";

const FOLDER = fileURLToPath(new URL("../../../manifests/example/", import.meta.url));
const SOURCE = { namespace: "secretcast", name: "registry" };

type Loaded = {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
};
type Listed = {
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly type: string;
  readonly data?: Readonly<Record<string, string>>;
};

/** Creates every object of the example and returns a line for each. */
export async function loadExample(client: ApiClient): Promise<string> {
  let told = "";
  for (const file of readdirSync(FOLDER).toSorted()) {
    if (!file.endsWith(".yaml")) continue;
    for (const object of loadAll(readFileSync(`${FOLDER}${file}`, "utf8"))) {
      if (!isLoaded(object)) continue;
      const resource = object.kind === "Namespace" ? NAMESPACES : SECRETS;
      const path = resourcePath(resource, object.metadata.namespace);
      const what = `create ${object.kind} ${object.metadata.name}`;
      await client.request({ method: "POST", path, body: object, what });
      told += `loaded    ${object.kind} ${nameOf(object)}\n`;
    }
  }
  return told;
}

/**
 * Creates the Deployment of a controller with these flags, so that other commands find its settings. No
 * Pods are created from it.
 */
export async function installController(client: ApiClient, flags: FlagValues): Promise<void> {
  const labels = { "app.kubernetes.io/name": "secretcast" };
  const args = ["run", ...Object.entries(flags).map(([name, value]) => `--${name}=${value}`)];
  const containers = [{ name: "secretcast", image: "secretcast", args }];
  const template = { metadata: { labels }, spec: { serviceAccountName: "secretcast", containers } };
  const metadata = { namespace: SOURCE.namespace, name: "secretcast", labels };
  await client.request({
    method: "POST",
    path: resourcePath(DEPLOYMENTS, SOURCE.namespace),
    body: {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata,
      spec: { replicas: 0, selector: { matchLabels: labels }, template },
    },
    what: "create the controller's Deployment",
  });
}

/** The differences from the example's promises, one line each. */
export async function checkExample(client: ApiClient): Promise<readonly string[]> {
  const secrets = await list<Listed>(client, resourcePath(SECRETS));
  const namespaces = await list<Loaded>(client, resourcePath(NAMESPACES));
  const at = (namespace: string): Listed | undefined =>
    secrets.find(
      ({ metadata }) => metadata.namespace === namespace && metadata.name === SOURCE.name,
    );
  const source = at(SOURCE.namespace);
  const wrong: string[] = [];
  for (const { metadata } of namespaces) {
    if (metadata.name === SOURCE.namespace) continue;
    const wanted = metadata.name.startsWith("team-");
    const copy = at(metadata.name);
    if (
      wanted &&
      !(copy && copy.type === source?.type && isDeepStrictEqual(copy.data, source.data))
    )
      wrong.push(`${metadata.name} has no equal copy of ${SOURCE.name}`);
    if (!wanted && copy) wrong.push(`${metadata.name} has a copy that nobody wants`);
  }
  return wrong;
}

/** Every Secret of the example's server: where it is, and where it comes from. */
export async function tableOf(client: ApiClient): Promise<string> {
  const secrets = await list<Listed>(client, resourcePath(SECRETS));
  const rows = secrets.map(({ metadata, type }) => [
    metadata.namespace,
    metadata.name,
    type,
    metadata.annotations?.["secretcast.io/source"] ?? "(source)",
  ]);
  return alignColumns([["NAMESPACE", "NAME", "TYPE", "COPY OF"], ...rows]);
}

function alignColumns(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  );
  const line = (row: readonly string[]): string =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("   ")
      .trimEnd();
  return `${rows.map(line).join("\n")}\n`;
}

async function list<T>(client: ApiClient, path: string): Promise<readonly T[]> {
  const { items } = await client.request<{ items: readonly T[] }>({
    method: "GET",
    path,
    what: "list the example",
  });
  return items;
}

function isLoaded(value: unknown): value is Loaded {
  return isRecord(value) && typeof value["kind"] === "string" && isRecord(value["metadata"]);
}

function nameOf({ metadata }: Loaded): string {
  return metadata.namespace === undefined
    ? metadata.name
    : `${metadata.namespace}/${metadata.name}`;
}
