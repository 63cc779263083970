// How the source list stands, in one line that names it.
import { reasonText } from "../../../src/controller/model/reasons.ts";
import assert from "node:assert/strict";
import { test } from "node:test";
import { NO_ENTRIES } from "../../../src/controller/annotations/source-list.ts";
import {
  forbiddenListState,
  readListState,
  LIST_OFF,
  pendingListState,
  unusableListState,
} from "../../../src/controller/observed/list-state.ts";
import { readList } from "../../../src/controller/observed/read-list.ts";

const REF = { namespace: "secretcast", name: "sources" };

test("a list that is not heard says why, and which list it is", () => {
  const marked = readList({
    metadata: { ...REF, annotations: { "secretcast.io/from": "a/b" } },
  });
  assert.deepEqual(
    [LIST_OFF, pendingListState(REF), forbiddenListState(REF), unusableListState(REF, undefined)]
      .concat(unusableListState(REF, marked))
      .map(({ state, reason }) => ({ state, reason: reasonText(reason) })),
    [
      { state: "off", reason: "the source list is turned off (--source-list)" },
      {
        state: "unread",
        reason: "the source list secretcast/sources has not been read yet",
      },
      {
        state: "unread",
        reason:
          "the source list secretcast/sources cannot be read: the API server answers 403 (get, list, watch)",
      },
      { state: "absent", reason: "the source list secretcast/sources is not there" },
      {
        state: "unread",
        reason:
          "the source list secretcast/sources is not read: it carries secretcast.io/from, as no list does: take it off",
      },
    ],
  );
});

test("a list that is heard is of one version", () => {
  const object = readList({ metadata: { ...REF, uid: "u", resourceVersion: "7" } });
  assert.ok(object);
  const state = readListState(REF, object, NO_ENTRIES, "Secret");
  assert.ok(state.state === "read");
  const { ref, uid, resourceVersion } = state;
  assert.deepEqual({ ref, uid, resourceVersion }, { ref: REF, uid: "u", resourceVersion: "7" });
  assert.deepEqual([...state.entries()], []);
});
