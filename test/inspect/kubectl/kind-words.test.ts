// A kind has its facts in the table of kinds. Where another file repeats one, it is compared here.
import assert from "node:assert/strict";
import { test } from "node:test";
import { OBJECT_FIELDS } from "../../../src/controller/annotations/list-entry.ts";
import { apiVersionOf } from "../../../src/text/names.ts";
import { KINDS, OBJECT_KINDS } from "../../../src/controller/model/kinds.ts";
import { kindOfResource, kindOfWord } from "../../../src/inspect/kubectl/kind-words.ts";
import { CONFIG_MAPS, SECRETS } from "../../../packages/kube/rest/resource.ts";
import { entryFor } from "../../../src/migrate/moves/list-moves.ts";
import { copiedKind, copyableObjects } from "../../../src/migrate/oldtools/old-objects.ts";
import { readOldCluster } from "../../../src/migrate/oldtools/read-old-objects.ts";
import { groupVersion, resources } from "../../../packages/sandbox/kinds/resources.ts";

test("a kind is named by every word that the API server knows", () => {
  for (const served of resources) {
    const kind = OBJECT_KINDS.find((each) => each === served.kind);
    for (const word of [served.singular, served.plural, ...served.shortNames])
      assert.equal(kindOfWord(word), kind, word);
  }
  assert.equal(kindOfWord("constructor"), undefined);
});

test("the client and the sandbox know each kind as the table of kinds has it", () => {
  const known = [SECRETS, CONFIG_MAPS];
  for (const kind of OBJECT_KINDS) {
    const { resource } = KINDS[kind];
    assert.deepEqual(
      known.find((each) => each.kind === kind),
      resource,
    );
    const served = resources.find((each) => each.kind === kind);
    assert.equal(served?.plural, resource.plural);
    assert.equal(served && groupVersion(served), apiVersionOf(resource));
    assert.equal(kindOfResource(resource.plural), kind);
  }
});

test("every kind can be an entry of the list and is read by a move", () => {
  for (const kind of OBJECT_KINDS) {
    const ref = { namespace: "a", name: "x" };
    const list = { namespace: "b", name: "list" };
    const moved = entryFor({ kind, ...ref }, { "secretcast.io/to": "team-a" }, list);
    assert.deepEqual(moved.object, { kind, ...ref });
    assert.ok(Object.values(OBJECT_FIELDS).includes(kind));
    assert.equal(copiedKind(kind), kind);
    const apiVersion = apiVersionOf(KINDS[kind].resource);
    const object = { apiVersion, kind, metadata: { ...ref, uid: "1" } };
    const other = { ...object, apiVersion: "example.com/v1" };
    const read = copyableObjects(readOldCluster([object, other], undefined, []));
    assert.deepEqual(
      read.map((each) => each.kind),
      [kind],
    );
  }
});
