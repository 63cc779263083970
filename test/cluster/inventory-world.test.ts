// `secretcast inventory` on the world of rotations, whose truth is known without the program: 4 sources, 300
// namespaces, 60 bindings. No row is wrong, and none is missing.
import assert from "node:assert/strict";
import { test } from "node:test";
import { openCluster, ownCluster } from "../support/api-server/cluster.ts";
import { commandLine } from "../support/programs/command-line.ts";
import { loadWorld } from "../support/worlds/rotation/load-world.ts";
import { readersOf, readerText, type Reader } from "../support/worlds/rotation/readers.ts";
import { makeWorld } from "../support/worlds/rotation/rotation-world.ts";
import { refOf, sourceNamespacesOf, type Place } from "../support/worlds/rotation/world-parts.ts";

type Item = {
  readonly namespace: string;
  readonly name: string;
  readonly type: string;
  readonly keys: readonly string[];
  readonly value: { readonly known: string; readonly notAfter: string };
  readonly lastCopyAt: string;
  readonly copies: readonly {
    namespace: string;
    name: string;
    writtenAt: string;
    pulling?: true;
  }[];
  readonly readers: readonly (Reader & { everyPlace?: true; places?: readonly string[] })[];
};

const timeOf = (seconds: number): string =>
  new Date(seconds * 1000).toISOString().replace(".000Z", "Z");

test("the inventory of the world has every source, copy, time and reader, and no other (37)", async (t) => {
  const cluster = await ownCluster();
  t.after(() => cluster.stop());
  const http = openCluster(cluster);
  t.after(() => http.close());
  const world = makeWorld(Math.floor(Date.now() / 1000));
  const at = `--kubeconfig=${cluster.kubeconfig}`;
  const addresses = ["--http-address=127.0.0.1:0", "--status-address=127.0.0.1:0"];
  const copy = (flags: readonly string[]) =>
    commandLine(["run", "--once", at, ...flags, ...addresses]);
  await loadWorld(world, { http, copy, withoutPods: true });
  const from = `--source-namespaces=${sourceNamespacesOf(world)}`;
  const said = await commandLine(["inventory", at, from, "--readers", "-o", "json"]);
  assert.equal(said.code, 0, said.stderr);
  const { items }: { readonly items: readonly Item[] } = JSON.parse(said.stdout);
  assert.deepEqual(
    items.map(({ namespace, name }) => `${namespace}/${name}`),
    world.sources.map(refOf).toSorted(),
  );
  const bound = new Set(world.bindings.flatMap(({ subjects }) => subjects.map(readerText)));
  for (const item of items) {
    const source = `${item.namespace}/${item.name}`;
    const made = world.sources.find((each) => refOf(each) === source);
    assert.deepEqual(
      [item.type, item.keys],
      [made?.type, Object.keys(made?.data ?? {}).toSorted()],
    );
    const places = world.places.filter((place) => place.source === source);
    const isHeld = ({ role, state }: Place): boolean =>
      role !== "source" && (role === "pulling" || state !== "conflict");
    const held = places.filter(isHeld);
    const shown = new Map(item.copies.map((each) => [refOf(each), each]));
    for (const place of held) {
      const there = shown.get(refOf(place));
      shown.delete(refOf(place));
      if (place.role === "pulling" && place.state === "conflict") continue;
      assert.equal(there?.writtenAt, timeOf(place.since), refOf(place));
      assert.equal(there?.pulling === true, place.role === "pulling", refOf(place));
    }
    assert.deepEqual([...shown.keys()], [], `${source}: copies that are none`);
    const own = places.find(({ role }) => role === "source");
    assert.equal(item.value.notAfter, timeOf(own?.since ?? 0), source);
    const times = held.filter(({ state }) => state !== "conflict").map(({ since }) => since);
    assert.equal(item.lastCopyAt, timeOf(Math.max(...times)), source);
    for (const place of [{ ...item, source }, ...item.copies]) {
      const ours = item.readers
        .filter(({ everyPlace, places: there }) => everyPlace ?? there?.includes(refOf(place)))
        .map(readerText)
        .filter((reader) => bound.has(reader));
      assert.deepEqual(
        [...new Set(ours)].toSorted(),
        readersOf(place, world.bindings),
        `${source}: readers of ${refOf(place)}`,
      );
    }
  }
  const csv = await commandLine(["inventory", at, from, "-o", "csv", "--max-age=1m"]);
  assert.equal(csv.code, 2);
  assert.equal(csv.stdout.split("\r\n").length, 1 + world.sources.length + 1);
});
