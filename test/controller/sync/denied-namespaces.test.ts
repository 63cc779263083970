// --namespaces: what a controller says of a namespace that the API server does not let it read, also if it has never
// read it.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { ApiRequest } from "../../../packages/kube/rest/api-client.ts";
import { readFilter } from "../../../src/page/filter.ts";
import { StatusFeed } from "../../../src/page/status-feed.ts";
import { Rig } from "../../support/controller/fake-clock-controller.ts";
import { refusal } from "../../support/controller/memory-api.ts";

for (const what of ["the Secrets", "the metadata"])
  test(`a namespace with unreadable ${what} is a trouble on the page until it is readable`, async () => {
    const rig = new Rig("team-a", "team-b");
    const refused = { on: true };
    const before = async (request: ApiRequest): Promise<void> => {
      const { path, query } = request;
      const isSecrets = path.includes("/team-b/secrets");
      const isNamespace =
        path.endsWith("/team-b") || String(query?.["fieldSelector"]).endsWith("=team-b");
      if (refused.on && (what === "the Secrets" ? isSecrets : isNamespace))
        throw refusal(request, "forbidden");
    };
    const statusFeed = new StatusFeed(rig.clock, "test");
    const given = { namespaces: "team-a,team-b" };
    const started = await rig.run(30_000, { given, before, statusFeed });
    const troubles = async () =>
      (await statusFeed.read(readFilter(new URLSearchParams()))).troubles;
    assert.deepEqual(await troubles(), [
      "objects in namespace team-b cannot be read (403): their copies and those of their sources stay as they are",
    ]);
    refused.on = false;
    await rig.clock.advance(120_000);
    assert.deepEqual(await troubles(), []);
    await started.stop();
  });
