// All that the tests know of how a Kubernetes API server answers, and the running of it against one
// server: each fact is a test of its own, in a namespace of its own.
import { randomBytes } from "node:crypto";
import { after, before, describe, test } from "node:test";
import "./facts/writes.ts";
import "./facts/patches.ts";
import "./facts/deletes.ts";
import "./facts/validation.ts";
import "./facts/lists.ts";
import "./facts/kinds.ts";
import "./facts/protobuf.ts";
import "./facts/watches.ts";
import { API_FACTS, ok, type Fact } from "./facts/place.ts";
import { openHttp } from "./http.ts";
import type { Http, Server } from "./http.ts";

export type FactServer = {
  readonly start: () => Promise<
    Server & {
      readonly quietBookmarkMs: number;
      /** Makes the server forget every version but the present. */
      readonly forgetHistory: () => Promise<void>;
      readonly stop: () => Promise<void>;
    }
  >;
};

/** Registers a suite `name`: all facts against the server that `start` gives; it is stopped after. */
export function proveFacts(name: string, { start }: FactServer): void {
  describe(name, () => {
    let server: Awaited<ReturnType<typeof start>>;
    let http: Http;
    before(async () => {
      server = await start();
      http = openHttp(server);
    });
    after(async () => {
      await http.close();
      await server.stop();
    });
    const prove = async (fact: Fact): Promise<void> => {
      const namespace = `fact-${randomBytes(4).toString("hex")}`;
      const body = { metadata: { name: namespace } };
      ok(await http.send("POST", "/api/v1/namespaces", { body }), 201);
      const { quietBookmarkMs, forgetHistory } = server;
      const secrets = `/api/v1/namespaces/${namespace}/secrets`;
      await fact.check({ http, namespace, secrets, quietBookmarkMs, forgetHistory });
    };
    // Together, since one of them waits for two minutes; then those that disturb the others.
    describe("side by side", { concurrency: true }, () => {
      for (const fact of API_FACTS) if (!fact.alone) test(fact.name, () => prove(fact));
    });
    describe("alone", () => {
      for (const fact of API_FACTS) if (fact.alone) test(fact.name, () => prove(fact));
    });
  });
}
