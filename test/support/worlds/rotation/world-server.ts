// Requests that write a world. Each must succeed.
import assert from "node:assert/strict";
import { field, type Http } from "../../../../packages/sandbox/testing/http.ts";

export class WorldServer {
  readonly http: Http;

  constructor(http: Http) {
    this.http = http;
  }

  async post(path: string, body: object): Promise<unknown> {
    const answer = await this.http.send("POST", path, { body });
    const isThere = answer.status === 409 && path.endsWith("/serviceaccounts");
    assert.ok(
      answer.status === 201 || isThere,
      `POST ${path}: ${answer.status} ${String(field(answer.body, "message"))}`,
    );
    return answer.body;
  }

  async merge(path: string, body: object): Promise<void> {
    const contentType = "application/merge-patch+json";
    const { status, body: said } = await this.http.send("PATCH", path, { body, contentType });
    assert.equal(status, 200, `PATCH ${path}: ${String(field(said, "message"))}`);
  }

  status(namespace: string, name: string, status: object): Promise<void> {
    return this.merge(`${podsIn(namespace)}/${name}/status`, { status });
  }
}

const AT_ONCE = 24;

export async function each<T>(
  items: readonly T[],
  work: (item: T) => Promise<unknown>,
): Promise<void> {
  const left = items.values();
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (const item of left) await work(item);
    }),
  );
}

export function secretsIn(namespace: string): string {
  return `/api/v1/namespaces/${namespace}/secrets`;
}

export function podsIn(namespace: string): string {
  return `/api/v1/namespaces/${namespace}/pods`;
}
