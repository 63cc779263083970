// For every world that a tool left: after a move and a run of the controller with the printed flags, the
// namespaces that can read each value are those that could before. The plan is the controller's own, and not
// the rule of the move.
import assert from "node:assert/strict";
import { test } from "node:test";
import { commandLine } from "../../support/programs/command-line.ts";
import { MemoryWorld } from "../../support/worlds/memory-world.ts";
import { WORLDS, type WorldObject } from "../../support/worlds/world.ts";

type Item = {
  readonly resource: string;
  readonly namespace: string;
  readonly source: string;
  readonly verdict: string;
};
type PlanList = { readonly items: readonly Item[] };

/** Verdicts by which a namespace gets the values of a source. */
const GIVING = new Set(["create", "update", "replace", "adopt", "fill"]);
const KINDS: Readonly<Record<string, string>> = { secrets: "Secret", configmaps: "ConfigMap" };

function holds(object: WorldObject, source: WorldObject): boolean {
  const wanted = Object.entries(source.data ?? {});
  return (
    object.kind === source.kind && wanted.every(([key, value]) => object.data?.[key] === value)
  );
}

for (const name of WORLDS) {
  test(`the readers of each value are the same before and after a move from ${name}`, async (t) => {
    const world = await MemoryWorld.load(name, false, false);
    const before = world.objects();
    const { flags } = await world.plan();
    const { code, said } = await world.command(false);
    assert.ok(code === 0 || code === 2, said);
    const after = world.objects();
    const stdin = JSON.stringify({ apiVersion: "v1", kind: "List", items: after });
    const args = ["plan", "-f", "-", "-o", "json", ...flags];
    const { stdout, stderr } = await commandLine(args, { stdin });
    assert.doesNotMatch(stderr, /not read/);
    const { items }: PlanList = JSON.parse(stdout);
    const gained = items.filter(({ resource, namespace, source, verdict }) => {
      if (!GIVING.has(verdict)) return false;
      const [found] = after.filter(
        ({ kind, metadata }) =>
          kind === KINDS[resource] && `${metadata.namespace}/${metadata.name}` === source,
      );
      assert.ok(found, `${source} of ${resource}`);
      return !before.some((one) => one.metadata.namespace === namespace && holds(one, found));
    });
    assert.deepEqual(gained, []);
    const written = after.filter(({ metadata }) =>
      Object.keys(metadata.annotations ?? {}).some((key) =>
        /^secretcast\.io\/(?:to|allow)/.test(key),
      ),
    );
    assert.ok(written.length > 0, "some sources move");
    t.diagnostic(`${name}: ${written.length} sources, ${items.length} places that are not current`);
  });
}
