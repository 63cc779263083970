// Hands the control planes of `npm run test:cluster` to test files that run at once: each file has one
// for itself while it runs, and a file that must run alone has the only one in use. First come, first
// served: nobody is let in before a file that waits to be alone. What a file had is free when its
// process is gone, however it ended.
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

/** How long a file ran, in seconds. */
export type FileRun = { readonly file: string; readonly seconds: number };

type Waiting = { readonly file: string; readonly socket: Socket };

export class Lanes<Access> {
  /** What has ended, in that order. */
  readonly runs: FileRun[] = [];
  readonly #free: Access[];
  readonly #size: number;
  readonly #runsAlone: (file: string) => boolean;
  readonly #folder = mkdtempSync(join(tmpdir(), "secretcast-lanes-"));
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #waiting: Waiting[] = [];
  #isAnyAlone = false;
  #isClosed = false;

  /** `accesses` are plain data, one for each file that may run at once. */
  constructor(accesses: readonly Access[], runsAlone: (file: string) => boolean) {
    this.#free = [...accesses];
    this.#size = accesses.length;
    this.#runsAlone = runsAlone;
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
    for (;;) {
      const next = this.#waiting[0];
      if (this.#isClosed || next === undefined || !this.#mayRun(next.file)) return;
      const access = this.#free.shift();
      if (access === undefined) return;
      this.#waiting.shift();
      this.#grant(next, access);
    }
  }

  #mayRun(file: string): boolean {
    return !this.#isAnyAlone && (!this.#runsAlone(file) || this.#free.length === this.#size);
  }

  #grant({ file, socket }: Waiting, access: Access): void {
    const began = performance.now();
    const isAlone = this.#runsAlone(file);
    if (isAlone) this.#isAnyAlone = true;
    socket.prependOnceListener("close", () => {
      if (isAlone) this.#isAnyAlone = false;
      // The one that was free for longest is next: a namespace that still ends there has gone by then.
      this.#free.push(access);
      this.runs.push({ file, seconds: (performance.now() - began) / 1000 });
    });
    socket.write(`${JSON.stringify(access)}\n`);
  }
}
