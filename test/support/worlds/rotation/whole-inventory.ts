// `secretcast inventory` on the world of rotations, whose truth is known without the program. No row is wrong, and
// none is missing.
import assert from "node:assert/strict";
import { commandLine } from "../../programs/command-line.ts";
import { timeText } from "./pod-uses.ts";
import type { RotationJudge } from "./rotation-judge.ts";
import { readersOf, readerText, type Reader } from "./readers.ts";
import { refOf, sourceNamespacesOf, type Place } from "./world-parts.ts";

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

export async function assertWholeInventory({ cluster, world }: RotationJudge): Promise<void> {
  const flags = [
    `--kubeconfig=${cluster.kubeconfig}`,
    `--source-namespaces=${sourceNamespacesOf(world)}`,
  ];
  const said = await commandLine([
    "inventory",
    ...flags,
    "--lease-namespace=default",
    "--readers",
    "-o",
    "json",
  ]);
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
      assert.equal(there?.writtenAt, timeText(place.since), refOf(place));
      assert.equal(there?.pulling === true, place.role === "pulling", refOf(place));
    }
    assert.deepEqual([...shown.keys()], [], `${source}: copies that are none`);
    const own = places.find(({ role }) => role === "source");
    assert.equal(item.value.notAfter, timeText(own?.since ?? 0), source);
    const times = held.filter(({ state }) => state !== "conflict").map(({ since }) => since);
    assert.equal(item.lastCopyAt, timeText(Math.max(...times)), source);
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
  const csv = await commandLine(["inventory", ...flags, "-o", "csv", "--max-age=1m"]);
  assert.equal(csv.code, 2);
  assert.equal(csv.stdout.split("\r\n").length, 1 + world.sources.length + 1);
}
