// The bounds of the commands that keep or make removals. That they work as typed, integration/ways-out shows.
import assert from "node:assert/strict";
import { test } from "node:test";
import { LONGEST_COMMAND } from "../../../src/cli/explanation/removal-commands.ts";
import { ask } from "../../support/planner/explained.ts";
import { Cluster } from "../../support/planner/planner-cluster.ts";

/** So many copies whose source then wants none of them. */
function unwanted(count: number, prepare: (made: Cluster) => void = () => undefined): Cluster {
  const made = new Cluster().withNamespaces("shared");
  for (let n = 0; n < count; n++) made.namespace(`team-${n}`);
  made.secret("shared/one", { to: "team-*" }, { data: { key: "hunter2" } });
  made.settle();
  prepare(made);
  made.annotate("shared/one", { to: "taem-*" });
  return made;
}

test("commands for thousands of copies have a bounded length, and say what they leave out (A6)", () => {
  const { waysOut } = ask(unwanted(4000), "shared/one");
  const [way] = waysOut;
  assert.equal(waysOut.length, 1);
  assert.equal(way?.count, 4000);
  const [loop = ""] = way.remove;
  assert.match(loop, /^for n in team-\d+ .*; do kubectl delete secret -n "\$n" one; done$/);
  assert.equal(loop.split(" ").filter((word) => word.startsWith("team-")).length, 500);
  assert.deepEqual(way.keep, []);
  assert.match(way.note ?? "", /4000 namespaces are too many for one command; 3500 more copies/);
  const some = ask(unwanted(1000), "shared/one").waysOut[0];
  const [keep = ""] = some?.keep ?? [];
  assert.ok(keep.length > 5000 && keep.length <= LONGEST_COMMAND);
  assert.match(
    keep,
    /^kubectl annotate secret -n shared one --overwrite 'secretcast.io\/to=taem-\*,/,
  );
});

test("a copy that a tenant forged gets its namespace into no command that keeps copies (A3)", () => {
  const made = unwanted(3, (cluster) => {
    cluster.namespace("tenant");
    const copy = structuredClone(cluster.get("team-0/one"));
    Object.assign(copy.metadata, { namespace: "tenant", uid: "uid-of-forged" });
    copy.metadata.annotations["secretcast.io/placed-at"] = "tenant/one";
    copy.data = { key: "Zm9yZ2Vk" };
    cluster.secrets.set("tenant/one", copy);
    cluster.reread();
  });
  const [way] = ask(made, "shared/one").waysOut;
  assert.equal(way?.count, 4);
  assert.deepEqual(way.keep, [
    "kubectl annotate secret -n shared one --overwrite 'secretcast.io/to=taem-*,team-0,team-1,team-2'",
  ]);
  assert.equal(way.note, "1 copies with other content are not kept");
});

test("where another Secret has the lost source's name, it is never given the copies (A3)", () => {
  const made = unwanted(2);
  made.delete("shared/one");
  made.secret("shared/one", {}, { data: { key: "other" } });
  const [way] = ask(made, "shared/one").waysOut;
  assert.deepEqual(way?.keep, []);
  assert.match(way?.note ?? "", /^another Secret is called shared\/one: delete it first/);
});

test("where the namespace declines, the command is about the namespace (A6)", () => {
  const made = new Cluster().withNamespaces("shared", "team-a");
  made.secret("shared/one", { to: "team-*" });
  made.settle();
  made.namespace("team-a", { accept: "false" });
  const [way] = ask(made, "shared/one").waysOut;
  assert.deepEqual(way?.keep, [
    "kubectl annotate namespace team-a --overwrite secretcast.io/accept=shared/one",
  ]);
});

test("no command has a value, and a source whose copies are current has no way out", () => {
  const made = unwanted(2);
  made.delete("shared/one");
  const text = JSON.stringify(ask(made, "shared/one").waysOut);
  assert.match(text, /kubectl create -f -/);
  assert.ok(!text.includes("hunter2") && !text.includes(Buffer.from("hunter2").toString("base64")));

  const fine = new Cluster().withNamespaces("shared", "team-a");
  fine.secret("shared/one", { to: "team-*" });
  fine.settle();
  assert.deepEqual(ask(fine, "shared/one").waysOut, []);
});
