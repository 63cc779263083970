// Exec plugins of a kubeconfig's user, run as kubectl runs them: stderr is the user's, stdin follows
// interactiveMode, and KUBERNETES_EXEC_INFO is set.
// Promises: a plugin runs once, however many clients ask, until its credential expires or is refused. It ends
// within a time limit. Errors name it and contain nothing of its output.
import { spawn, type ChildProcess } from "node:child_process";
import { isatty } from "node:tty";
import { CredentialsError, type CredentialSource, type Proof } from "./credential-source.ts";
import { loadAsKubectl } from "./kubectl-yaml.ts";
import type { Cluster, User } from "./kubeconfig-file.ts";
import type { Clock } from "../time/clock.ts";
import { isRecord, parseJson } from "../json.ts";

type ExecUser = Pick<User, "name"> & { readonly exec: NonNullable<User["exec"]> };
export type ExecSurroundings = {
  readonly clock: Clock;
  readonly caData: string | undefined;
  /** A user reads stderr, even if it is not a terminal. */
  readonly hasReader: boolean;
};

const GROUP = "client.authentication.k8s.io/";
const VERSIONS: ReadonlySet<unknown> = new Set([`${GROUP}v1`, `${GROUP}v1beta1`]);
const STDIN = 0;
const STDERR = 2;
/** A user may have to log in with a browser. */
export const INTERACTIVE_LIMIT_MS = 300_000;
const LIMIT_MS = 60_000;
/** Longest use of a credential, with a later expiry or without one. */
const LONGEST_USE_MS = 24 * 3_600_000;
const MOST_OUTPUT = 1024 * 1024;
const LONGEST_HINT = 500;

/** Shared by all clients of a process, as in kubectl: a user is asked to log in once. */
const running = new Map<string, ExecPlugin>();

/** Throws a CredentialsError if the description of the plugin is invalid. */
export function execPlugin(
  user: ExecUser,
  cluster: Cluster,
  surroundings: ExecSurroundings,
): CredentialSource {
  const key = JSON.stringify([user.exec, user.name, cluster, surroundings.caData]);
  const known = running.get(key) ?? new ExecPlugin(user, cluster, surroundings);
  running.set(key, known);
  return known;
}

class ExecPlugin implements CredentialSource {
  readonly limitMs: number;
  readonly title: string;
  readonly #user: ExecUser;
  readonly #cluster: Cluster;
  readonly #surroundings: ExecSurroundings;
  #flight: Promise<Proof> | undefined;
  #kept: Proof | undefined;

  constructor(user: ExecUser, cluster: Cluster, surroundings: ExecSurroundings) {
    this.#user = user;
    this.#cluster = cluster;
    this.#surroundings = surroundings;
    this.title = `credential plugin "${String(user.exec["command"])}" of user "${user.name}"`;
    this.limitMs = mayAskUser(user.exec) ? INTERACTIVE_LIMIT_MS : LIMIT_MS;
  }

  prove(): Promise<Proof> {
    const kept = this.#kept;
    if (kept && this.#surroundings.clock.now() < (kept.expiresAt ?? Infinity))
      return Promise.resolve(kept);
    this.#flight ??= this.#run().finally(() => (this.#flight = undefined));
    return this.#flight;
  }

  forget(): void {
    this.#kept = undefined;
  }

  async #run(): Promise<Proof> {
    const { exec } = this.#user;
    const { apiVersion, interactiveMode } = exec;
    if (!VERSIONS.has(apiVersion))
      throw this.#fault(`needs an apiVersion: ${[...VERSIONS].join(" or ")}`);
    // As kubectl: only the older version may leave it out.
    if (interactiveMode === undefined && apiVersion === `${GROUP}v1`)
      throw this.#fault("needs an interactiveMode: Never, IfAvailable or Always");
    const isInteractive = this.#isInteractive(interactiveMode);
    const output = await this.#output(isInteractive);
    this.#kept = this.#proofOf(output);
    return this.#kept;
  }

  #isInteractive(mode: unknown): boolean {
    switch (mode ?? "IfAvailable") {
      case "Never":
        return false;
      case "IfAvailable":
        return isatty(STDIN);
      case "Always":
        if (isatty(STDIN)) return true;
        throw this.#fault("wants to ask on the terminal, and standard input is not a terminal");
      default:
        throw this.#fault("has an interactiveMode that is not Never, IfAvailable or Always");
    }
  }

  #info(isInteractive: boolean): string {
    const { exec } = this.#user;
    const { apiVersion } = exec;
    const { server, tlsServerName, skipTLSVerify, proxyUrl, execConfig } = this.#cluster;
    const cluster = {
      server,
      "tls-server-name": tlsServerName,
      "insecure-skip-tls-verify": skipTLSVerify === true ? true : undefined,
      "certificate-authority-data": this.#surroundings.caData,
      "proxy-url": proxyUrl,
      config: execConfig ?? null,
    };
    const spec = {
      ...(exec["provideClusterInfo"] === true && { cluster }),
      interactive: isInteractive,
    };
    return JSON.stringify({ kind: "ExecCredential", apiVersion, spec });
  }

  #output(isInteractive: boolean): Promise<string> {
    const { command, args, env } = this.#command();
    const info = this.#info(isInteractive);
    return new Promise((resolve, reject) => {
      const child = spawn(command, args, {
        // A collected log must not contain what a plugin prints.
        stdio: [
          isInteractive ? "inherit" : "ignore",
          "pipe",
          this.#surroundings.hasReader || isatty(STDERR) ? "inherit" : "ignore",
        ],
        env: { ...process.env, ...env, KUBERNETES_EXEC_INFO: info },
      });
      const chunks: Buffer[] = [];
      let bytes = 0;
      const end = (fault: string): void => {
        timer.cancel();
        kill(child);
        reject(this.#fault(fault));
      };
      const timer = this.#surroundings.clock.setTimeout(
        () => end(`has not ended within ${this.limitMs / 1000} s`),
        this.limitMs,
      );
      child.stdout?.on("data", (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes > MOST_OUTPUT) end("prints more than a credential");
        else chunks.push(chunk);
      });
      child.on("error", (error: NodeJS.ErrnoException & { path?: string }) =>
        end(
          error.code === "ENOENT" && error.path === command
            ? `was not found${this.#hint()}`
            : `cannot be run (${error.code ?? "no code"})`,
        ),
      );
      child.on("close", (code, signal) => {
        timer.cancel();
        if (code === 0) resolve(Buffer.concat(chunks).toString("utf8"));
        else
          reject(
            this.#fault(
              `failed with ${code === null ? signal : `exit code ${code}`}; run it by hand to see why`,
            ),
          );
      });
    });
  }

  #command() {
    const { command, args = [], env = [] } = this.#user.exec;
    if (typeof command !== "string" || command === "") throw this.#fault("has no command");
    if (!Array.isArray(args) || !args.every((each) => typeof each === "string"))
      throw this.#fault("has args that are no list of texts");
    if (!Array.isArray(env)) throw this.#fault("has an env that is no list");
    const variables = env.map((each: unknown) => {
      const { name, value } = isRecord(each) ? each : {};
      const text = value ?? "";
      if (typeof name === "string" && name !== "" && typeof text === "string") return [name, text];
      throw this.#fault("has an env whose entries are not a name and a value");
    });
    return { command, args, env: Object.fromEntries(variables) as Record<string, string> };
  }

  // The plugin's own text, without characters that a terminal interprets.
  #hint(): string {
    const hint = this.#user.exec["installHint"];
    if (typeof hint !== "string") return "";
    const text = hint.replaceAll(/\p{C}+\s*|\s+/gu, " ").trim();
    return text === "" ? "" : `; ${text.slice(0, LONGEST_HINT)}`;
  }

  #proofOf(output: string): Proof {
    const printed = parseJson(output) ?? yamlIn(output);
    const credential = isRecord(printed) ? printed : {};
    const wanted = this.#user.exec["apiVersion"];
    const given = credential["apiVersion"];
    if (given !== undefined && wanted !== undefined && given !== wanted)
      throw this.#fault("answers in another apiVersion than its own");
    const status = credential["status"];
    if (!isRecord(status)) throw this.#fault("does not print an ExecCredential with a status");
    const { token = "", clientCertificateData: cert = "", clientKeyData: key = "" } = status;
    if (typeof token !== "string" || typeof cert !== "string" || typeof key !== "string")
      throw this.#fault("prints a status with fields that are no text");
    if (token === "" && cert === "" && key === "")
      throw this.#fault("prints neither a token nor a certificate and key");
    if ((cert === "") !== (key === ""))
      throw this.#fault("prints a certificate or a key, not both");
    return {
      ...(token !== "" && { headers: { Authorization: `Bearer ${token}` } }),
      ...(cert !== "" && { cert, key }),
      expiresAt: this.#expiry(status["expirationTimestamp"]),
    };
  }

  #expiry(timestamp: unknown): number {
    const latest = this.#surroundings.clock.now() + LONGEST_USE_MS;
    if (timestamp === undefined || timestamp === null) return latest;
    const at = typeof timestamp === "string" ? Date.parse(timestamp) : Number.NaN;
    if (Number.isNaN(at)) throw this.#fault("prints an expirationTimestamp that is no time");
    return Math.min(at, latest);
  }

  #fault(what: string): CredentialsError {
    return new CredentialsError(`${this.title} ${what}`);
  }
}

/** Undefined if it is none. */
function yamlIn(output: string): unknown {
  try {
    return loadAsKubectl(output);
  } catch {
    return undefined;
  }
}

export function mayAskUser({ interactiveMode }: ExecUser["exec"]): boolean {
  return interactiveMode !== "Never" && isatty(STDIN);
}

function kill(child: ChildProcess): void {
  child.stdout?.destroy();
  child.kill("SIGKILL");
}
