// From a Pod of the API to the few fields that a rotation asks for. A Pod that uses none of the objects, or
// has finished, is dropped at once. Every part of a spec that can name a Secret or a ConfigMap is read.
import type { ObjectKind } from "../../controller/model/kinds.ts";
import { stringOf } from "../../controller/model/unstructured.ts";
import { apiSeconds } from "../../inspect/requests/api-time.ts";
import { fieldsIn, recordsIn, type AnswerFields } from "../../inspect/requests/fields.ts";
import type { ContainerStart, PodOwner, Use, UsingPod } from "../holding/using-pod.ts";

/** Where a spec names objects of a kind: the names of fields of the API. */
const FIELDS = {
  Secret: {
    variable: "secretKeyRef",
    variables: "secretRef",
    volume: "secret",
    volumeName: "secretName",
    isCredential: true,
  },
  ConfigMap: {
    variable: "configMapKeyRef",
    variables: "configMapRef",
    volume: "configMap",
    volumeName: "name",
    isCredential: false,
  },
} as const satisfies Readonly<Record<ObjectKind, Readonly<Record<string, string | boolean>>>>;

/** Each list of containers in a spec, and of their states in a status. */
const CONTAINERS = [
  ["containers", "containerStatuses"],
  ["initContainers", "initContainerStatuses"],
  ["ephemeralContainers", "ephemeralContainerStatuses"],
] as const;

/** Whether an object of this name is asked for in this namespace. */
export type Asked = (namespace: string, name: string) => boolean;

export function readPod(raw: unknown, kind: ObjectKind, asked: Asked): UsingPod | undefined {
  const pod = fieldsIn(raw);
  const [metadata, spec, status] = [pod["metadata"], pod["spec"], pod["status"]].map(fieldsIn);
  const namespace = stringOf(metadata?.["namespace"]);
  const phase = stringOf(status?.["phase"]);
  if (!metadata || !spec || !status || phase === "Succeeded" || phase === "Failed")
    return undefined;
  const uses = new Uses(kind, spec, status, (name) => asked(namespace, name)).read();
  if (uses.length === 0) return undefined;
  return {
    namespace,
    name: stringOf(metadata["name"]),
    owner: ownerOf(metadata),
    createdAt: apiSeconds(metadata["creationTimestamp"]),
    startedAt: apiSeconds(status["startTime"]),
    isScheduled: stringOf(spec["nodeName"]) !== "",
    // A lost node is no proof of an end.
    isRunning: phase === "Running" || phase === "Unknown",
    isDeleting: metadata["deletionTimestamp"] !== undefined,
    uses,
  };
}

/** The owner that controls the object, as its ownerReferences name it. */
export function ownerOf(metadata: AnswerFields): PodOwner | undefined {
  const owner = recordsIn(metadata["ownerReferences"]).find((each) => each["controller"] === true);
  if (!owner) return undefined;
  return {
    apiVersion: stringOf(owner["apiVersion"]),
    kind: stringOf(owner["kind"]),
    name: stringOf(owner["name"]),
  };
}

class Uses {
  readonly #fields: (typeof FIELDS)[ObjectKind];
  readonly #spec: AnswerFields;
  readonly #asked: (name: string) => boolean;
  readonly #starts: ReadonlyMap<string, ContainerStart>;
  readonly #found = new Map<string, Use>();

  constructor(
    kind: ObjectKind,
    spec: AnswerFields,
    status: AnswerFields,
    asked: (name: string) => boolean,
  ) {
    this.#fields = FIELDS[kind];
    this.#spec = spec;
    this.#asked = asked;
    this.#starts = startsOf(status);
  }

  read(): readonly Use[] {
    for (const [list] of CONTAINERS)
      for (const container of recordsIn(this.#spec[list])) this.#environment(container);
    this.#volumes();
    if (this.#fields.isCredential)
      for (const { name } of recordsIn(this.#spec["imagePullSecrets"])) this.#add({ name }, "pull");
    return [...this.#found.values()];
  }

  #environment(container: AnswerFields): void {
    const { variable, variables } = this.#fields;
    const of = stringOf(container["name"]);
    const references = [
      ...recordsIn(container["env"]).map(({ valueFrom }) => fieldsIn(valueFrom)[variable]),
      ...recordsIn(container["envFrom"]).map((source) => source[variables]),
    ];
    for (const { name, optional } of references.map(fieldsIn))
      this.#add({ name, isOptional: optional === true }, "environment", of);
  }

  #volumes(): void {
    const mounts = CONTAINERS.flatMap(([list]) =>
      recordsIn(this.#spec[list]).flatMap((container) =>
        recordsIn(container["volumeMounts"]).map((mount) => ({
          container: stringOf(container["name"]),
          volume: stringOf(mount["name"]),
          isPart: stringOf(mount["subPath"]) !== "" || stringOf(mount["subPathExpr"]) !== "",
        })),
      ),
    );
    for (const volume of recordsIn(this.#spec["volumes"])) {
      const mounted = mounts.filter((mount) => mount.volume === volume["name"]);
      for (const files of this.#files(volume)) {
        for (const { container, isPart } of mounted)
          this.#add(files, isPart ? "subPath" : "volume", container);
        if (mounted.length === 0) this.#add(files, "volume");
      }
      if (this.#fields.isCredential)
        for (const name of credentialsOf(volume)) this.#add({ name }, "mount");
    }
  }

  /** The objects whose entries are files of the volume. */
  #files(volume: AnswerFields): readonly Reference[] {
    const { volume: field, volumeName } = this.#fields;
    const own = fieldsIn(volume[field]);
    const sources = recordsIn(fieldsIn(volume["projected"])["sources"]);
    const needed = sources.flatMap(neededBy);
    return [
      { ...filesOf(own, own[volumeName]), isOfSeveral: false },
      ...sources.map((source) => {
        const of = fieldsIn(source[field]);
        const isOfSeveral = needed.some((other) => other !== `${field} ${stringOf(of["name"])}`);
        return { ...filesOf(of, of["name"]), isOfSeveral };
      }),
    ];
  }

  #add(reference: Reference, by: Use["by"], container?: string): void {
    const { name, isOptional = false, required = [], isOfSeveral = false } = reference;
    if (typeof name !== "string" || name === "" || !this.#asked(name)) return;
    const key = `${by} ${name} ${container ?? ""}`;
    const before = this.#found.get(key);
    const use = {
      name,
      by,
      ...(container !== undefined && { container }),
      start: by === "environment" ? this.#startOf(container) : this.#anyStart(),
      isOptional: isOptional && before?.isOptional !== false,
      required: [...(before?.required ?? []), ...required],
      isOfSeveral: isOfSeveral || before?.isOfSeveral === true,
    };
    this.#found.set(key, use);
  }

  #startOf(container: string | undefined): ContainerStart {
    return this.#starts.get(container ?? "") ?? UNREPORTED;
  }

  /** Volumes are mounted before the first container starts. */
  #anyStart(): ContainerStart {
    const times = [...this.#starts.values()].flatMap((start) =>
      start.kind === "started" ? [start.at] : [],
    );
    return times.length > 0 ? { kind: "started", at: Math.min(...times) } : UNREPORTED;
  }
}

/** What a Pod says of an object that it uses. */
type Reference = Pick<Use, "isOptional" | "required" | "isOfSeveral"> & { readonly name: unknown };

function filesOf({ optional, items }: AnswerFields, name: unknown): Reference {
  const isOptional = optional === true;
  const required = isOptional ? [] : recordsIn(items).map(({ key }) => stringOf(key));
  return { name, isOptional, required };
}

/** Objects without which a projected volume is not refreshed. The cluster itself keeps its root certificate. */
function neededBy(source: AnswerFields): readonly string[] {
  return ["secret", "configMap"].flatMap((field) => {
    if (source[field] === undefined) return [];
    const { name, optional } = fieldsIn(source[field]);
    return optional === true || name === "kube-root-ca.crt" ? [] : [`${field} ${stringOf(name)}`];
  });
}

const UNREPORTED: ContainerStart = { kind: "unreported" };

/** The Secrets of a volume of another kind: the fields of all drivers have one of three names. */
function credentialsOf(volume: AnswerFields): readonly unknown[] {
  return Object.entries(volume).flatMap(([field, driver]) => {
    if (field === "name" || field === "secret" || field === "projected") return [];
    const { secretRef, nodePublishSecretRef, secretName } = fieldsIn(driver);
    return [fieldsIn(secretRef)["name"], fieldsIn(nodePublishSecretRef)["name"], secretName];
  });
}

function startsOf(status: AnswerFields): ReadonlyMap<string, ContainerStart> {
  return new Map(
    CONTAINERS.flatMap(([, list]) =>
      recordsIn(status[list]).map(
        ({ name, state }) => [stringOf(name), startOf(fieldsIn(state))] as const,
      ),
    ),
  );
}

function startOf({ running, terminated, waiting }: AnswerFields): ContainerStart {
  const at = apiSeconds(fieldsIn(running ?? terminated)["startedAt"]);
  if (at !== undefined) return { kind: "started", at };
  return waiting === undefined || running !== undefined ? UNREPORTED : { kind: "waiting" };
}
