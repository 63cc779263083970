// The program as a child process of which everything is overheard: both of its outputs, every page of
// every address that it serves, and what its heap holds. And the search for values in all that.
import { createHash, randomBytes } from "node:crypto";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { eventually } from "../../../packages/kube/testing/eventually.ts";

export type Overheard = {
  /** Standard output and standard error so far. */
  readonly text: () => string;
  /** Every page of every address that it says it serves, with the status of each. */
  readonly pages: () => Promise<string>;
  /** A heap snapshot, after the garbage was collected, long strings in full. */
  readonly heap: () => Promise<string>;
  /** SIGTERM, unless it has ended; resolves with the exit code. */
  readonly stop: () => Promise<number | null>;
  readonly ended: Promise<number | null>;
};

const PAGES = ["/", "/healthz", "/readyz", "/metrics", "/api/status", "/nowhere"];

/** Starts `secretcast` with these words; it is stopped when the test ends. */
export function eavesdrop(t: TestContext, words: readonly string[]): Overheard {
  const folder = mkdtempSync(join(tmpdir(), "secretcast-heap-"));
  const nodeFlags = [
    "--heapsnapshot-signal=SIGUSR2",
    `--diagnostic-dir=${folder}`,
    "--heap-snapshot-string-limit=100000000",
  ];
  const child = spawn(process.execPath, [...nodeFlags, "bin/secretcast.js", ...words], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  let text = "";
  for (const output of [child.stdout, child.stderr])
    output.setEncoding("utf8").on("data", (piece: string) => (text += piece));
  const ended = once(child, "exit").then(() => child.exitCode);
  const addresses = (): readonly string[] =>
    Array.from(text.matchAll(/"address":"([^"]+)"/g), ([, address = ""]) => address);
  const stop = (): Promise<number | null> => {
    child.kill("SIGTERM");
    return ended;
  };
  t.after(async () => {
    await stop();
    rmSync(folder, { recursive: true });
  });
  const pages = async (): Promise<string> => {
    const served = await eventually("it serves", () => addresses().length > 0 && addresses());
    const urls = served.flatMap((address) => PAGES.map((page) => `http://${address}${page}`));
    const texts = await Promise.all(
      urls.map(async (url) => {
        const answer = await fetch(url);
        return `${url} ${answer.status}\n${await answer.text()}`;
      }),
    );
    return texts.join("\n");
  };
  const heap = async (): Promise<string> => {
    child.kill("SIGUSR2");
    const name = await eventually("a snapshot begins", () => readdirSync(folder)[0], 30_000);
    // It is written while the event loop stands still: when a page comes, it is whole.
    await pages();
    return readFileSync(join(folder, name), "utf8");
  };
  return { text: () => text, pages, heap, stop, ended };
}

/** A value that occurs nowhere by chance. */
export function planted(what: string): string {
  return `planted-${what}-${randomBytes(12).toString("hex")}`;
}

/** The forms of these values that `text` holds, as "VALUE as FORM". */
export function leaks(text: string, values: Iterable<string>): readonly string[] {
  return Array.from(values).flatMap((value) =>
    Object.entries(formsOf(value))
      .filter(([, form]) => text.includes(form))
      .map(([name]) => `${value} as ${name}`),
  );
}

// Base64 inside of other base64 begins at one of three offsets; its ends depend on the neighbours.
function formsOf(value: string): Readonly<Record<string, string>> {
  const bytes = Buffer.from(value);
  const sha256 = createHash("sha256").update(bytes).digest();
  return {
    "plain text": value,
    base64: bytes.toString("base64").replace(/=+$/, ""),
    "base64 at offset 1": bytes.subarray(2, -2).toString("base64").replace(/=+$/, ""),
    "base64 at offset 2": bytes.subarray(1, -2).toString("base64").replace(/=+$/, ""),
    hex: bytes.toString("hex"),
    "a hash in hex": sha256.toString("hex"),
    "a hash in base64": sha256.toString("base64").replace(/=+$/, ""),
  };
}
