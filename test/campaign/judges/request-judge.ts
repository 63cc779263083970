// The form of every write of the controller: that it names the version it is for, and that this version was
// the controller's to write or to delete, by the words of the reference model. Whether its sources wanted
// it is judged by write-judge.ts, where all is known that ever was.
import type { ProxyWrite } from "../../../packages/kube/testing/fault-proxy.ts";
import { field } from "../../../packages/sandbox/testing/http.ts";
import { wordOf, type Raw } from "../model/raw.ts";
import { hasUnknownMark, isOurs, isPull } from "../model/standing.ts";
import type { Violations } from "./violations.ts";

type Patch = readonly { readonly op: string; readonly path: string; readonly value: unknown }[];
type Preconditions = { readonly uid?: string; readonly resourceVersion?: string };
type Write = { readonly method: string; readonly body?: unknown };
type Kind = "Secret" | "ConfigMap";

const PLACE = /^\/api\/v1\/namespaces\/([^/]+)\/(secrets|configmaps)(?:\/([^/]+))?$/;

/** Of what a request is; undefined: of nothing that is copied. */
export function placeAsked(
  path: string,
): { readonly kind: Kind; readonly namespace: string; readonly name: string } | undefined {
  const [, namespace, plural, name = ""] = PLACE.exec(path) ?? [];
  return namespace === undefined
    ? undefined
    : { kind: plural === "secrets" ? "Secret" : "ConfigMap", namespace, name };
}

/** What a PATCH or a DELETE says that it is for. */
export function preconditionsOf(body: unknown): Preconditions {
  if (Array.isArray(body)) {
    const at = (field: string): string | undefined => {
      const found = (body as Patch).find(({ path }) => path === `/metadata/${field}`)?.value;
      return typeof found === "string" ? found : undefined;
    };
    const [uid, resourceVersion] = [at("uid"), at("resourceVersion")];
    return {
      ...(uid !== undefined && { uid }),
      ...(resourceVersion !== undefined && { resourceVersion }),
    };
  }
  const given = (body ?? {}) as {
    readonly metadata?: Preconditions;
    readonly preconditions?: Preconditions;
  };
  return given.preconditions ?? given.metadata ?? {};
}

/** What is wrong with a write before anybody knows what it met; `made`: what a POST makes. */
export function wrongForm({ method, body }: Write, made: Raw): string | undefined {
  if (method === "POST" && finalizersOf(made) !== "") return "it made a finalizer";
  if (method === "POST") return isOurs(made) ? undefined : "what it made is not marked as ours";
  const { uid, resourceVersion } = preconditionsOf(body);
  if (resourceVersion === undefined) return "without a resourceVersion as its precondition";
  if (method === "DELETE" && uid === undefined) return "without a UID as its precondition";
  return undefined;
}

/** Whether it was the controller's to delete or to change; `after`: what became of it, where that is known. */
export function wrongTarget(method: string, before: Raw, after?: Raw): string | undefined {
  if (method !== "DELETE" && isPull(before)) return undefined;
  if (hasUnknownMark(before) && (method !== "DELETE" || isOurs(before)))
    return "a newer version made it";
  if (isOurs(before)) return undefined;
  const offered = method === "DELETE" ? undefined : wordOf(before, "adopt");
  return offered === undefined || (after && wordOf(after, "source") !== offered)
    ? "it is not ours"
    : undefined;
}

export const finalizersOf = ({ metadata }: Raw): string => (metadata.finalizers ?? []).join(",");

/** A version that no watch has shown after so many rounds is given up: its history was gone. */
const MOST_ROUNDS = 10;
const MOST_VERSIONS = 50_000;

/** NAMESPACE/NAME of what it writes; undefined: nothing that is copied. */
export function placeOfWrite({ path, body }: ProxyWrite): string | undefined {
  const asked = placeAsked(path);
  const name = asked?.name || String(field(parsed(body), "metadata", "name"));
  return asked && `${asked.namespace}/${name}`;
}

/** The server wrote something that is copied. */
export const isDone = ({ path, query, status }: ProxyWrite): boolean =>
  placeAsked(path) !== undefined && status < 300 && !query.has("dryRun");

/** Judges what passes a proxy, for as long as a run may last. */
export class RequestJudge {
  readonly #violations: Violations;
  readonly #versions = new Map<string, Raw>();
  #open: { readonly write: ProxyWrite; readonly version: string; rounds: number }[] = [];
  /** Writes that the API server did, by verb. */
  readonly done = new Map<string, number>();
  /** Writes whose version was never seen. */
  unjudged = 0;

  constructor(violations: Violations) {
    this.#violations = violations;
  }

  /** A version that a watch shows; of an object its metadata are enough. */
  see(raw: Raw): void {
    this.#versions.set(raw.metadata.resourceVersion, raw);
    const [oldest] = this.#versions.keys();
    if (this.#versions.size > MOST_VERSIONS && oldest !== undefined) this.#versions.delete(oldest);
  }

  take(write: ProxyWrite): void {
    const { method, path, query, status } = write;
    const asked = placeAsked(path);
    const body = parsed(write.body);
    // The server answers before it has read a body that is too large for it.
    if (
      !asked ||
      (query.has("dryRun") && method === "POST") ||
      (body === undefined && status >= 400)
    )
      return;
    const metadata = { ...Object(field(body, "metadata")), namespace: asked.namespace };
    const wrong = wrongForm({ method, body }, { metadata });
    if (wrong !== undefined) this.#violations.add(wrong, `${method} ${placeOfWrite(write)}`);
    if (!isDone(write)) return;
    this.done.set(method, (this.done.get(method) ?? 0) + 1);
    const version = preconditionsOf(body).resourceVersion;
    if (method !== "POST" && version !== undefined) this.#open.push({ write, version, rounds: 0 });
  }

  /** Judges what the watch has shown by now. */
  round(): void {
    this.#open = this.#open.filter((one) => {
      const { method, path } = one.write;
      const before = this.#versions.get(one.version);
      if (before === undefined) {
        if (++one.rounds < MOST_ROUNDS) return true;
        this.unjudged++;
        return false;
      }
      const wrong = wrongTarget(method, before);
      if (wrong !== undefined)
        this.#violations.add(wrong, `${method} ${path} at version ${one.version}`);
      return false;
    });
  }
}

/** Undefined when it is not whole; a body may be empty. */
function parsed(body: string): unknown {
  try {
    return body === "" ? {} : JSON.parse(body);
  } catch {
    return undefined;
  }
}
