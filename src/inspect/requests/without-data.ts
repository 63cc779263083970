// A client that lists Secrets and ConfigMaps without their data. It asks for the Table of kubectl: each row has the
// whole metadata, the type and the number of entries. The API server then sends no value. Every other request is
// sent as it is.
import type { ApiClient, ApiRequest } from "../../../packages/kube/rest/api-client.ts";
import { isRecord } from "../../../packages/kube/json.ts";
import { KINDS, OBJECT_KINDS, type ObjectKind } from "../../controller/model/kinds.ts";
import { fieldsIn } from "./fields.ts";

const TABLE = "application/json;as=Table;g=meta.k8s.io;v=v1";
const LISTS = new Map(OBJECT_KINDS.map((kind) => [KINDS[kind].resource.plural, kind]));
const LIST_PATH = /^\/api\/v1(?:\/namespaces\/[^/]+)?\/([a-z]+)$/;

/** One object of such a list, beside its metadata. */
export type ObjectRow = { readonly type: string; readonly entryCount: number };

export function withoutData(client: ApiClient): ApiClient {
  return {
    server: client.server,
    reachability: client.reachability,
    keepKeyPrefixes: client.keepKeyPrefixes ?? [],
    request: <T>(request: ApiRequest): Promise<T> => {
      const kind = request.method === "GET" ? listedKind(request.path) : undefined;
      if (kind === undefined) return client.request<T>(request);
      const query = { ...request.query, includeObject: "Metadata" };
      return client
        .request<unknown>({ ...request, query, accept: TABLE })
        .then((table) => listOf(table, kind) as T);
    },
    open: (request) => client.open(request),
    close: () => client.close(),
  };
}

function listedKind(path: string): ObjectKind | undefined {
  return LISTS.get(LIST_PATH.exec(path)?.[1] ?? "");
}

/** The list that the Table shows, or what the reader of lists refuses. */
function listOf(table: unknown, kind: ObjectKind): unknown {
  if (!isRecord(table) || table["kind"] !== "Table") return undefined;
  const { metadata, columnDefinitions, rows } = table;
  if (!Array.isArray(columnDefinitions) || !Array.isArray(rows)) return undefined;
  const names = columnDefinitions.map((column) => (isRecord(column) ? column["name"] : ""));
  const [type, data] = [names.indexOf("Type"), names.indexOf("Data")];
  return {
    kind: `${kind}List`,
    metadata,
    items: rows.map((row) => itemOf(row, type, data)),
  };
}

function itemOf(row: unknown, type: number, data: number): unknown {
  if (!isRecord(row) || !isRecord(row["object"]) || !Array.isArray(row["cells"])) return undefined;
  const cells: readonly unknown[] = row["cells"];
  const count = cells[data];
  return {
    metadata: row["object"]["metadata"],
    type: typeof cells[type] === "string" ? cells[type] : "",
    entryCount: typeof count === "number" ? count : Number.NaN,
  };
}

export function rowOf(raw: unknown): ObjectRow {
  const { type, entryCount } = fieldsIn(raw);
  return {
    type: typeof type === "string" ? type : "",
    entryCount: typeof entryCount === "number" ? entryCount : Number.NaN,
  };
}
