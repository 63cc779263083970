// What decides the name and the namespace of an object outside of its manifest: kustomizations, Kustomizations
// of Flux and Applications of Argo CD. An object that several of them deploy has no single place.
import { dirname, join, normalize } from "node:path";
import { isRecord } from "../../../packages/kube/json.ts";

type Fields = Readonly<Record<string, unknown>>;

/** How an object of a file is renamed. Undefined parts stay as they are. */
export type FilePlace = {
  /** The namespace of every object. */
  readonly forced: string | undefined;
  /** The namespace of objects that name none. */
  readonly otherwise: string | undefined;
  readonly prefix: string;
  readonly suffix: string;
};

export const AS_WRITTEN: FilePlace = {
  forced: undefined,
  otherwise: undefined,
  prefix: "",
  suffix: "",
};

/** `several`: it is deployed more than once, with different places. */
export type FilePlaces = ReadonlyMap<string, FilePlace | "several">;

export type Kustomization = {
  readonly folder: string;
  readonly value: Fields;
};

/** A kustomization that kustomize-controller builds, or an Application: the objects below `path`. */
type Deployment = { readonly path: string; readonly place: FilePlace };

const MOST_NESTED = 16;
const MOST_WAYS = 64;

/** `files`: those with objects. `objects`: the objects in them. */
export function filePlaces(
  files: Iterable<string>,
  kustomizations: readonly Kustomization[],
  objects: readonly Fields[],
): FilePlaces {
  const folders = new Map(kustomizations.map((one) => [one.folder, one]));
  const parents = new Map<string, string[]>();
  for (const { folder, value } of kustomizations) {
    for (const path of pathsIn(value, ["resources", "bases", "components"])) {
      const target = withoutSlash(normalize(join(folder, path)));
      const some = parents.get(target) ?? [];
      some.push(folder);
      parents.set(target, some);
    }
  }
  const deployments = objects.flatMap(deploymentOf);
  // The places of what is in the folder or the file, from the outermost kustomization.
  const waysOf = (target: string, depth: number): readonly FilePlace[] => {
    const around = (parents.get(target) ?? []).flatMap((folder) => {
      const own = folders.get(folder);
      if (!own || depth >= MOST_NESTED) return [];
      return waysOf(folder, depth + 1).map((outer) => within(placeOf(own.value), outer));
    });
    const ways = around.length > 0 ? around : deployedAs(target, deployments);
    return distinct(ways).slice(0, MOST_WAYS);
  };
  const places = new Map<string, FilePlace | "several">();
  for (const file of files) {
    const [first = AS_WRITTEN, ...others] = waysOf(normalize(file), 0);
    places.set(file, others.length > 0 ? "several" : first);
  }
  return places;
}

/** Texts of the lists of these fields. */
function pathsIn(value: Fields, names: readonly string[]): readonly string[] {
  return names.flatMap((name) => {
    const list = value[name];
    if (!Array.isArray(list)) return [];
    return (list as readonly unknown[]).filter((one) => typeof one === "string");
  });
}

/** The outer kustomization has the last word on the namespace, and names are joined. */
function within(inner: FilePlace, outer: FilePlace): FilePlace {
  return {
    forced: outer.forced ?? inner.forced,
    otherwise: inner.otherwise ?? outer.otherwise,
    prefix: outer.prefix + inner.prefix,
    suffix: inner.suffix + outer.suffix,
  };
}

function placeOf(value: Fields): FilePlace {
  return {
    ...AS_WRITTEN,
    forced: textOf(value["namespace"]),
    prefix: textOf(value["namePrefix"]) ?? "",
    suffix: textOf(value["nameSuffix"]) ?? "",
  };
}

function deploymentOf({ kind, apiVersion, spec }: Fields): readonly Deployment[] {
  if (!isRecord(spec) || typeof apiVersion !== "string") return [];
  if (kind === "Kustomization" && apiVersion.startsWith("kustomize.toolkit.fluxcd.io/")) {
    const path = textOf(spec["path"]);
    const forced = textOf(spec["targetNamespace"]);
    const place = { ...placeOf({ ...spec, namespace: forced }) };
    return path === undefined ? [] : [{ path: folderOf(path), place }];
  }
  if (kind === "Application" && apiVersion.startsWith("argoproj.io/")) {
    const { destination } = spec;
    const otherwise = isRecord(destination) ? textOf(destination["namespace"]) : undefined;
    const sources = Array.isArray(spec["sources"]) ? spec["sources"] : [spec["source"]];
    return (sources as readonly unknown[]).flatMap((source) => {
      const path = isRecord(source) ? textOf(source["path"]) : undefined;
      return path === undefined
        ? []
        : [{ path: folderOf(path), place: { ...AS_WRITTEN, otherwise } }];
    });
  }
  return [];
}

function folderOf(path: string): string {
  const folder = withoutSlash(normalize(path));
  return folder.startsWith("/") ? folder.slice(1) : folder;
}

function withoutSlash(path: string): string {
  return path.endsWith("/") ? path.slice(0, -1) : path;
}

/** The places by the deployments of the deepest folder that contains `target`. */
function deployedAs(target: string, deployments: readonly Deployment[]): readonly FilePlace[] {
  let deepest = -1;
  let found: FilePlace[] = [];
  for (const { path, place } of deployments) {
    const depth = depthIn(target, path);
    if (depth === undefined || depth < deepest) continue;
    if (depth > deepest) found = [];
    deepest = depth;
    found.push(place);
  }
  return found.length > 0 ? found : [AS_WRITTEN];
}

// The root of the repository may be above or below the folder of -f.
function depthIn(target: string, path: string): number | undefined {
  if (path === "." || path === "") return 0;
  const inner = path.startsWith("./") ? path.slice(2) : path;
  for (let folder = target; ; folder = dirname(folder)) {
    if (folder === inner || folder.endsWith(`/${inner}`)) return inner.split("/").length;
    if (folder === dirname(folder)) return undefined;
  }
}

function distinct(places: readonly FilePlace[]): readonly FilePlace[] {
  return [...new Map(places.map((place) => [JSON.stringify(place), place])).values()];
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** The namespace of an object of the file. Undefined when nothing says it. */
export function namespaceIn(place: FilePlace, own: unknown): string | undefined {
  return place.forced ?? textOf(own) ?? place.otherwise;
}

/** The name of a Namespace: kustomize gives it that of its objects, and no prefix. */
export function namespaceName<T>({ forced }: FilePlace, own: T): T | string {
  return forced ?? own;
}

/** The name of an object of the file. */
export function nameIn({ prefix, suffix }: FilePlace, own: string): string {
  return `${prefix}${own}${suffix}`;
}
