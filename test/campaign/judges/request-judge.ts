// Judges every write of a Secret by the controller, from its request as it passes the proxy: that it
// names the version it is for, and that this version was the controller's to write or to delete.
import type { ProxyWrite } from "../../support/api-server/fault-proxy.ts";
import { field } from "../../support/api-server/http.ts";
import { standingOf, type Standing } from "./versions.ts";
import type { Violations } from "./violations.ts";

type Asked = {
  readonly verb: "PATCH" | "DELETE";
  readonly place: string;
  readonly uid: unknown;
  readonly resourceVersion: unknown;
};

type Standings = { standing(uid: unknown, resourceVersion: unknown): Standing | undefined };

const PLACE = /^\/api\/v1\/namespaces\/([^/]+)\/secrets(?:\/([^/]+))?$/;
const MAY: Readonly<Record<Asked["verb"], readonly Standing[]>> = {
  PATCH: ["ours", "pulling", "offered"],
  DELETE: ["ours"],
};
/** A version that the watch has not shown after so many rounds is given up: its history was gone. */
const MOST_ROUNDS = 10;

export class WriteJudge {
  readonly #versions: Standings;
  readonly #violations: Violations;
  #open: { readonly asked: Asked; rounds: number }[] = [];
  /** Writes that the API server did, by verb. */
  readonly done = new Map<string, number>();
  /** Writes whose version was never seen. */
  unjudged = 0;

  constructor(versions: Standings, violations: Violations) {
    this.#versions = versions;
    this.#violations = violations;
  }

  take({ method, path, query, body, status }: ProxyWrite): void {
    const [, namespace, name] = PLACE.exec(path) ?? [];
    if (namespace === undefined) return;
    const sent = parsed(body);
    // The server answers before it has read a body that is too large for it.
    if (sent === undefined && status >= 400) return;
    if (method !== "PATCH" && method !== "DELETE") {
      if (method === "POST" && !query.has("dryRun")) this.#created(namespace, sent, status);
      return;
    }
    const place = `${namespace}/${name ?? ""}`;
    const versions = method === "PATCH" ? patched(sent) : deleted(sent);
    const asked: Asked = { verb: method, place, ...versions };
    const { uid, resourceVersion } = asked;
    if (typeof resourceVersion !== "string" || resourceVersion === "")
      this.#violations.add("a write that names no resourceVersion", `${method} ${place}`);
    if (method === "DELETE" && (typeof uid !== "string" || uid === ""))
      this.#violations.add("a delete that names no UID", place);
    if (status >= 300 || query.has("dryRun")) return;
    this.#count(method);
    this.#open.push({ asked, rounds: 0 });
  }

  /** Judges what the watch has shown by now. */
  round(): void {
    this.#open = this.#open.filter((one) => {
      const { verb, place, uid, resourceVersion } = one.asked;
      const standing = this.#versions.standing(uid, resourceVersion);
      if (standing === undefined) {
        if (++one.rounds < MOST_ROUNDS) return true;
        this.unjudged++;
      } else if (!MAY[verb].includes(standing))
        this.#violations.add(
          `a ${verb} of what is not the controller's`,
          `${place} was ${standing} at version ${String(resourceVersion)}`,
        );
      return false;
    });
  }

  #created(namespace: string, made: unknown, status: number): void {
    const metadata = { ...Object(field(made, "metadata")), namespace };
    if (standingOf(metadata) !== "ours")
      this.#violations.add(
        "something made that is no copy",
        `${namespace}/${String(field(metadata, "name"))}`,
      );
    if (status < 300) this.#count("POST");
  }

  #count(verb: string): void {
    this.done.set(verb, (this.done.get(verb) ?? 0) + 1);
  }
}

/** From a merge patch, or a JSON patch that replaces or tests them. */
function patched(patch: unknown): Pick<Asked, "uid" | "resourceVersion"> {
  if (!Array.isArray(patch)) {
    const metadata = field(patch, "metadata");
    return { uid: field(metadata, "uid"), resourceVersion: field(metadata, "resourceVersion") };
  }
  const at = (path: string): unknown =>
    field(
      patch.find((one) => field(one, "path") === path),
      "value",
    );
  return { uid: at("/metadata/uid"), resourceVersion: at("/metadata/resourceVersion") };
}

function deleted(options: unknown): Pick<Asked, "uid" | "resourceVersion"> {
  const preconditions = field(options, "preconditions");
  return {
    uid: field(preconditions, "uid"),
    resourceVersion: field(preconditions, "resourceVersion"),
  };
}

/** Undefined when it is not whole; a body may be empty. */
function parsed(body: string): unknown {
  try {
    return body === "" ? {} : JSON.parse(body);
  } catch {
    return undefined;
  }
}
