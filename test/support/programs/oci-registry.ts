// A registry of OCI artefacts on loopback, in memory: what the distribution specification says of
// pulling, and of pushing a blob in one request or in chunks. It refuses what a real one refuses: content
// that is not of its digest, a manifest whose blobs are not there, an index whose manifests are not.
import { fail } from "node:assert/strict";
import { createHash, randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import type { Ending } from "../../../packages/kube/testing/fault-proxy.ts";

export type Descriptor = {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
  readonly annotations?: Readonly<Record<string, string>>;
};
export type Manifest = {
  readonly schemaVersion: number;
  readonly mediaType: string;
  readonly config: Descriptor;
  readonly layers: readonly Descriptor[];
  readonly annotations: Readonly<Record<string, string>>;
};
type Index = { readonly mediaType: string; readonly manifests: readonly Descriptor[] };
/** What refers to others: a manifest to its blobs, an index to its manifests. */
type Referring = Partial<Pick<Manifest, "config" | "layers"> & Index>;

export const digestOf = (content: Buffer): string =>
  `sha256:${createHash("sha256").update(content).digest("hex")}`;

/** What an OCI image layout holds, each blob held against its descriptor. */
export function readLayout(folder: string): {
  readonly manifest: Manifest;
  readonly descriptor: Descriptor;
  readonly blob: (of: Descriptor) => Buffer;
} {
  const blob = ({ digest, size }: Descriptor): Buffer => {
    const content = readFileSync(join(folder, "blobs", digest.replace(":", "/")));
    if (digestOf(content) !== digest || content.length !== size)
      throw new Error(`${digest} is not what lies there: ${digestOf(content)}`);
    return content;
  };
  const index: Index = JSON.parse(readFileSync(join(folder, "index.json"), "utf8"));
  const [descriptor] = index.manifests;
  if (descriptor === undefined || index.manifests.length !== 1)
    throw new Error(`${folder} has ${index.manifests.length} manifests, not one`);
  return { manifest: JSON.parse(blob(descriptor).toString()), descriptor, blob };
}

export class OciRegistry {
  readonly #blobs = new Map<string, Buffer>();
  readonly #manifests = new Map<string, { readonly type: string; readonly content: Buffer }>();
  /** Chunks by the path that they are sent to. */
  readonly #uploads = new Map<string, Buffer>();
  readonly #server = createServer((request, response) => {
    this.#answer(request, response).catch((error: unknown) => {
      response.writeHead(500).end(String(error));
    });
  });

  /** Stopped when the test has ended. */
  static async start(t: Ending): Promise<OciRegistry> {
    const registry = new OciRegistry();
    await new Promise<void>((resolve) => registry.#server.listen(0, "127.0.0.1", resolve));
    t.after(async () => {
      registry.#server.closeAllConnections();
      await new Promise((resolve) => registry.#server.close(resolve));
    });
    return registry;
  }

  /** HOST:PORT. */
  get host(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Takes what a layout holds, as a tool that pushes layouts would bring it. */
  load(folder: string, repository: string): void {
    const { manifest, descriptor, blob } = readLayout(folder);
    for (const each of [manifest.config, ...manifest.layers])
      this.#blobs.set(each.digest, blob(each));
    const tag = descriptor.annotations?.["org.opencontainers.image.ref.name"] ?? "";
    this.#keep(repository, tag, descriptor.mediaType, blob(descriptor));
  }

  /** As it was pushed or loaded; `reference` is a tag or a digest. */
  manifest(repository: string, reference: string): Manifest {
    const found = this.#manifests.get(`${repository}:${reference}`);
    if (found === undefined) return fail(`nobody pushed ${repository}:${reference}`);
    return JSON.parse(found.content.toString());
  }

  blob(digest: string): Buffer {
    return this.#blobs.get(digest) ?? fail(`nobody pushed ${digest}`);
  }

  #keep(repository: string, reference: string, type: string, content: Buffer): void {
    for (const name of [reference, digestOf(content)])
      this.#manifests.set(`${repository}:${name}`, { type, content });
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? "", "http://registry");
    const found = /^\/v2\/(.+)\/(manifests|blobs)\/(.+)$/.exec(pathname);
    const [, repository = "", kind = "", reference = ""] = found ?? [];
    const content = await buffer(request);
    if (pathname === "/v2/") response.end("{}");
    else if (request.method === "POST") this.#upload(`/v2/${repository}/blobs/uploads/`, response);
    else if (request.method === "PATCH") this.#patch(pathname, content, response);
    else if (request.method === "PUT" && kind === "blobs")
      this.#putBlob(searchParams.get("digest") ?? "", this.#finish(pathname, content), response);
    else if (request.method === "PUT")
      this.#putManifest(
        repository,
        reference,
        request.headers["content-type"] ?? "",
        content,
        response,
      );
    else this.#get(repository, kind, reference, request.method === "HEAD", response);
  }

  #upload(folder: string, response: ServerResponse): void {
    response.writeHead(202, { location: `${folder}${randomUUID()}` }).end();
  }

  #patch(path: string, content: Buffer, response: ServerResponse): void {
    const whole = Buffer.concat([this.#uploads.get(path) ?? Buffer.alloc(0), content]);
    this.#uploads.set(path, whole);
    response.writeHead(202, { location: path, range: `0-${whole.length - 1}` }).end();
  }

  #finish(path: string, content: Buffer): Buffer {
    const before = this.#uploads.get(path) ?? Buffer.alloc(0);
    this.#uploads.delete(path);
    return Buffer.concat([before, content]);
  }

  #putBlob(digest: string, content: Buffer, response: ServerResponse): void {
    if (digestOf(content) !== digest) return void response.writeHead(400).end("DIGEST_INVALID");
    this.#blobs.set(digest, content);
    response.writeHead(201, { "docker-content-digest": digest }).end();
  }

  #putManifest(
    repository: string,
    reference: string,
    type: string,
    content: Buffer,
    response: ServerResponse,
  ): void {
    const { config, layers = [], manifests = [] }: Referring = JSON.parse(content.toString());
    const blobs = [...(config === undefined ? [] : [config]), ...layers];
    const isThere =
      blobs.every(({ digest }) => this.#blobs.has(digest)) &&
      manifests.every(({ digest }) => this.#manifests.has(`${repository}:${digest}`));
    if (!isThere) return void response.writeHead(404).end("MANIFEST_BLOB_UNKNOWN");
    this.#keep(repository, reference, type, content);
    response.writeHead(201, { "docker-content-digest": digestOf(content) }).end();
  }

  #get(
    repository: string,
    kind: string,
    reference: string,
    head: boolean,
    response: ServerResponse,
  ): void {
    const blob = this.#blobs.get(reference);
    const found =
      kind === "manifests"
        ? this.#manifests.get(`${repository}:${reference}`)
        : blob && { type: "application/octet-stream", content: blob };
    if (found === undefined) return void response.writeHead(404).end("NOT_FOUND");
    const { type, content } = found;
    const headers = {
      "content-type": type,
      "content-length": content.length,
      "docker-content-digest": digestOf(content),
    };
    response.writeHead(200, headers).end(head ? undefined : content);
  }
}
