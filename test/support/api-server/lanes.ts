// Hands the control planes of `npm run test:cluster` to test files that run at once: each file has one
// for itself while it runs, and a file that must run alone has the only one in use. A file beside them has
// none and one turn with its like. First come, first served: nobody is let in before a file that waits to
// be alone. What a file had is free when its process is gone, however it ended.
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

/** How long a file ran, in seconds. */
export type FileRun = { readonly file: string; readonly seconds: number };

export type FileRole = "shared" | "beside" | "alone";

type Waiting = { readonly file: string; readonly socket: Socket };

export class Lanes<Access> {
  /** What has ended, in that order. */
  readonly runs: FileRun[] = [];
  readonly #free: Access[];
  readonly #size: number;
  readonly #roleOf: (file: string) => FileRole;
  readonly #folder = mkdtempSync(join(tmpdir(), "secretcast-lanes-"));
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #waiting: Waiting[] = [];
  #isAnyAlone = false;
  #isAnyBeside = false;
  #isClosed = false;

  /** `accesses` are plain data, one for each file that may run at once. */
  constructor(accesses: readonly Access[], roleOf: (file: string) => FileRole) {
    this.#free = [...accesses];
    this.#size = accesses.length;
    this.#roleOf = roleOf;
    this.#server = createServer((socket) => this.#welcome(socket));
  }

  /** Where a test process asks, by its file's path in one line; the answer is one line of JSON. */
  get socketFile(): string {
    return join(this.#folder, "socket");
  }

  /** How many files wait. */
  get waiting(): number {
    return this.#waiting.length;
  }

  listen(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#server.once("error", reject).listen(this.socketFile, resolve);
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #welcome(socket: Socket): void {
    this.#sockets.add(socket);
    // A process that is killed leaves a reset behind; "close" follows, which is what counts.
    socket.on("error", () => {});
    socket.once("close", () => this.#sockets.delete(socket));
    createInterface({ input: socket })
      // A process that was killed while it asked.
      .on("error", () => {})
      .once("line", (file) => {
        const waiting = { file, socket };
        this.#waiting.push(waiting);
        socket.once("close", () => {
          const at = this.#waiting.indexOf(waiting);
          if (at !== -1) this.#waiting.splice(at, 1);
          this.#letIn();
        });
        this.#letIn();
      });
  }

  #letIn(): void {
    for (let at = 0; at < this.#waiting.length;) {
      const next = this.#waiting[at];
      if (this.#isClosed || next === undefined) return;
      const role = this.#roleOf(next.file);
      if (this.#mayRun(role)) {
        this.#waiting.splice(at, 1);
        this.#grant(next, role);
        at = 0;
      } else if (role === "alone") return;
      else at++;
    }
  }

  #mayRun(role: FileRole): boolean {
    if (this.#isAnyAlone) return false;
    if (role === "beside") return !this.#isAnyBeside;
    if (role === "alone") return this.#free.length === this.#size && !this.#isAnyBeside;
    return this.#free.length > 0;
  }

  #grant({ file, socket }: Waiting, role: FileRole): void {
    const began = performance.now();
    const access = role === "beside" ? undefined : this.#free.shift();
    if (role === "alone") this.#isAnyAlone = true;
    if (role === "beside") this.#isAnyBeside = true;
    socket.prependOnceListener("close", () => {
      if (role === "alone") this.#isAnyAlone = false;
      if (role === "beside") this.#isAnyBeside = false;
      // The one that was free for longest is next: a namespace that still ends there has gone by then.
      if (access !== undefined) this.#free.push(access);
      this.runs.push({ file, seconds: (performance.now() - began) / 1000 });
    });
    socket.write(`${JSON.stringify(access ?? null)}\n`);
  }
}
