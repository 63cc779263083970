// The yardstick for a list: curl reading the Secrets of the cluster with the controller's own account,
// over HTTP/1.1 as the controller does, and throwing them away.
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { field } from "../packages/sandbox/testing/http.ts";

export type Read = { readonly ms: number; readonly bytes: number };

// The server indents for curl, a tenth more bytes, unless told otherwise.
const PLAIN = { pretty: "false" };

type Query = Readonly<Record<string, string>>;

// What the server's mark of the end of a streamed list has in it.
const END_MARK = "k8s.io/initial-events-end";
const STREAM: Query = {
  watch: "true",
  allowWatchBookmarks: "true",
  sendInitialEvents: "true",
  resourceVersionMatch: "NotOlderThan",
};

/** The list in one piece. */
export async function curlList(kubeconfig: string, query: Query = {}): Promise<Read> {
  const began = performance.now();
  const child = curl(kubeconfig, query, [
    "--output",
    "/dev/null",
    "--write-out",
    "%{size_download}",
  ]);
  let said = "";
  child.stdout?.setEncoding("utf8").on("data", (text) => (said += String(text)));
  const [code] = await once(child, "close");
  if (code !== 0) throw new Error(`curl ended with code ${String(code)}`);
  return { ms: performance.now() - began, bytes: Number(said) };
}

/** The list as the controller asks for it: as the first events of a watch. */
export async function curlStream(kubeconfig: string, query: Query = {}): Promise<Read> {
  const began = performance.now();
  const child = curl(kubeconfig, { ...query, ...STREAM }, ["--no-buffer"]);
  const ended = once(child, "close");
  let bytes = 0;
  let tail = Buffer.alloc(0);
  for await (const chunk of child.stdout ?? []) {
    bytes += chunk.length;
    const text = Buffer.concat([tail, chunk]);
    if (text.includes(END_MARK)) {
      const ms = performance.now() - began;
      child.kill();
      await ended;
      return { ms, bytes };
    }
    tail = text.subarray(-END_MARK.length);
  }
  throw new Error("the watch ended before the mark of the end of its first list");
}

function curl(kubeconfig: string, query: Query, options: readonly string[]): ChildProcess {
  const config: unknown = JSON.parse(readFileSync(kubeconfig, "utf8"));
  const cluster = field(config, "clusters", 0, "cluster");
  const ca = field(cluster, "certificate-authority");
  const lines = [
    `url = "${String(field(cluster, "server"))}/api/v1/secrets?${String(new URLSearchParams({ ...query, ...PLAIN }))}"`,
    `header = "Authorization: Bearer ${String(field(config, "users", 0, "user", "token"))}"`,
    ...(typeof ca === "string" ? [`cacert = "${ca}"`] : []),
  ];
  const always = ["--silent", "--fail", "--http1.1", "--config", "-"];
  const child = spawn("curl", [...always, ...options], { stdio: ["pipe", "pipe", "inherit"] });
  child.stdin.end(lines.join("\n"));
  return child;
}
