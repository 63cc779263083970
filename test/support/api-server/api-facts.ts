// All that the tests know of how a Kubernetes API server answers, and the running of it against one
// server: each fact is a test of its own, in a namespace of its own.
import { randomBytes } from "node:crypto";
import { after, before, describe, test } from "node:test";
import { DELETE_FACTS } from "./facts/deletes.ts";
import { KIND_FACTS } from "./facts/kinds.ts";
import { LIST_FACTS } from "./facts/lists.ts";
import { PATCH_FACTS } from "./facts/patches.ts";
import { ok } from "./facts/place.ts";
import type { Fact } from "./facts/place.ts";
import { PROTOBUF_FACTS } from "./facts/protobuf.ts";
import { VALIDATION_FACTS } from "./facts/validation.ts";
import { WATCH_FACTS } from "./facts/watches.ts";
import { WRITE_FACTS } from "./facts/writes.ts";
import { openHttp } from "./http.ts";
import type { Http, Server } from "./http.ts";

const API_FACTS: readonly Fact[] = [
  ...WRITE_FACTS,
  ...PATCH_FACTS,
  ...DELETE_FACTS,
  ...VALIDATION_FACTS,
  ...LIST_FACTS,
  ...KIND_FACTS,
  ...PROTOBUF_FACTS,
  ...WATCH_FACTS,
];

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
      for (const fact of API_FACTS) if (fact.alone !== true) test(fact.name, () => prove(fact));
    });
    describe("alone", () => {
      for (const fact of API_FACTS) if (fact.alone === true) test(fact.name, () => prove(fact));
    });
  });
}
