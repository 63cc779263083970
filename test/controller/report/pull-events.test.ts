import { whyOf } from "../../support/planner/why-of.ts";
import assert from "node:assert/strict";
import { test } from "node:test";
import { Cluster } from "../../support/planner/planner-cluster.ts";
import { tell } from "../../support/telemetry/sent-events.ts";

const FORGED = {
  "placed-at": "tenant/mine",
  "source-version": "1",
};

/** A tenant's pulling Secret that claims to be filled, from an object that the tenant may not read. */
function forged(from: string, record: Readonly<Record<string, string>>, cluster: Cluster): Cluster {
  cluster.namespace("shared");
  cluster.namespace("bank");
  cluster.namespace("tenant");
  const annotations = { from, "source-uid": "uid-forged", ...FORGED, ...record };
  cluster.secret("tenant/mine", annotations, { data: { mine: "x" } });
  return cluster;
}

const SECRETS: Readonly<Record<string, () => Cluster>> = {
  "an entry of the list with a fault": () => {
    const cluster = new Cluster();
    cluster.list({ payroll: `secret: bank/payroll\nto: "acquisition-of-ACME"` });
    return forged("bank/payroll", { entry: "payroll" }, cluster);
  },
  "two entries of the list for one Secret": () => {
    const cluster = new Cluster();
    const entry = `secret: bank/twin-of-payroll\nto: shop`;
    cluster.list({ twin: entry, twin2: entry });
    return forged("bank/twin-of-payroll", { entry: "twin" }, cluster);
  },
  "a list that is not read": () => {
    const cluster = new Cluster();
    cluster.unlist("unread");
    return forged("bank/payroll", { entry: "payroll" }, cluster);
  },
  "a refused pulling Secret of another namespace": () => {
    const cluster = forged("bank/vault", { entry: "payroll" }, new Cluster());
    cluster.list({ payroll: `secret: bank/payroll\nto: shop` });
    cluster.secret("bank/vault", { from: "shared/one", keys: "pin=" });
    return cluster;
  },
  "a refused source": () => {
    const cluster = forged("shared/vault", {}, new Cluster());
    cluster.secret("shared/vault", { allow: "shop", keys: "pin=" }, { data: { a: "1" } });
    const uid = cluster.get("shared/vault").metadata.uid;
    cluster.annotate("tenant/mine", { "source-uid": uid });
    return cluster;
  },
  "a namespace that is no source namespace": () => forged("bank/vault", {}, new Cluster()),
  "a source that is not there": () => {
    const cluster = forged("shared/none", {}, new Cluster());
    cluster.settings = { ...cluster.settings, deleteGraceMs: 0 };
    return cluster;
  },
};

for (const [what, make] of Object.entries(SECRETS))
  test(`the owner of a forged pulling Secret learns the one reason: ${what}`, () => {
    const cluster = make();
    const from = cluster.get("tenant/mine").metadata.annotations["secretcast.io/from"] ?? "";
    const { settle } = tell(cluster);
    const lines = [...settle(), ...settle()];
    const one = `there is no source ${from}, or it does not allow this namespace`;
    assert.deepEqual(
      lines.filter((line) => line.startsWith("tenant/") && !line.includes(" Normal Removed: ")),
      [`tenant/mine Warning Refused: ${one}`],
    );
    for (const line of lines.filter((each) => each.includes(" Normal Removed: ")))
      assert.ok(line.endsWith(`: ${one}`), line);
  });

test("an administrator's row of a frozen pulling Secret keeps the true reason", () => {
  const cluster = SECRETS["a refused source"]?.();
  const [row] = cluster?.plan().rows.filter(({ pulling }) => pulling) ?? [];
  assert.equal(row?.verdict, "frozen");
  assert.match(whyOf(row), /source shared\/vault is refused: invalid secretcast.io\/keys/);
});

test("a frozen pulling Secret whose source is refused has the one reason", () => {
  const cluster = new Cluster().withNamespaces("shared", "team-0");
  cluster.secret("shared/tls", { allow: "team-0" }, { data: { a: "1" } });
  cluster.secret("team-0/mine", { from: "shared/tls" });
  const { settle } = tell(cluster);
  settle();
  cluster.annotate("shared/tls", { too: "x" });
  assert.deepEqual(
    settle().filter((line) => line.startsWith("team-0/mine")),
    [
      "team-0/mine Warning Refused: there is no source shared/tls, or it does not allow this namespace",
    ],
  );
});

for (const word of ["to", "to-selector", "allow", "allow-selector"])
  test(`a pulling Secret with ${word} has one Event, and none that contradicts it`, () => {
    const cluster = new Cluster().withNamespaces("shared", "team-0");
    cluster.secret("shared/tls", { allow: "team-0" }, { data: { a: "1" } });
    cluster.secret("team-0/mine", { from: "shared/tls", [word]: "a" });
    const lines = tell(cluster).settle();
    assert.equal(lines.length, 1, lines.join("\n"));
    assert.match(
      lines[0] ?? "",
      new RegExp(`team-0/mine Warning Refused: invalid secretcast.io/${word}: `),
    );
  });

test("a pulling Secret that another client keeps changing is Fought and not Failed", () => {
  const cluster = new Cluster().withNamespaces("shared", "team-0");
  cluster.secret("shared/tls", { allow: "team-0" }, { data: { a: "1" } });
  cluster.secret("team-0/mine", { from: "shared/tls" }, { data: {} });
  const { settle } = tell(cluster);
  settle();
  for (let edit = 0; edit < 8; edit++) {
    cluster.edit("team-0/mine", (pulling) => {
      pulling.data = { a: Buffer.from(`edit ${edit}`).toString("base64") };
    });
    cluster.now += 2000;
    cluster.sync();
  }
  const note = "its filled entries are repeatedly changed by another client";
  assert.deepEqual(
    settle().filter((line) => line.includes("Warning")),
    [`team-0/mine Warning Fought: ${note}`],
  );
});

test("a pulling Secret of another type has one Event that names both types", () => {
  const cluster = new Cluster().withNamespaces("shared", "team-0");
  const type = "kubernetes.io/dockerconfigjson";
  const data = { ".dockerconfigjson": '{"auths":{}}' };
  cluster.secret("shared/login", { allow: "team-0" }, { type, data });
  cluster.secret("team-0/other", { from: "shared/login" }, { type: "example.com/other" });
  cluster.secret("team-0/same", { from: "shared/login" }, { type, data });
  assert.deepEqual(tell(cluster).settle(), [
    "team-0/same Normal Copied: filled from shared/login",
    "team-0/other Warning Conflict: its type is example.com/other: expected kubernetes.io/dockerconfigjson or Opaque",
  ]);
});

test("a held clearing has an Event with its time and nothing of the source", () => {
  const cluster = new Cluster({ deleteHoldMs: 300_000 }).withNamespaces("shared");
  cluster.secret("shared/tls", { allow: "team-*" }, { data: { a: "1" } });
  for (let n = 0; n < 101; n++) {
    cluster.namespace(`team-${n}`);
    cluster.secret(`team-${n}/mine`, { from: "shared/tls" }, { data: {} });
  }
  const { settle } = tell(cluster);
  settle();
  cluster.annotate("shared/tls", { allow: "nobody" });
  const held = settle().filter((line) => line.includes("Held"));
  assert.equal(held.length, 101);
  const at = String.raw`\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC \(in \d+m\)`;
  const reason = "there is no source shared/tls, or it does not allow this namespace";
  for (const line of held)
    assert.match(
      line,
      new RegExp(
        `^team-\\d+/mine Warning Held: its entries stay for now: ${reason}; will be emptied at ${at}$`,
      ),
    );
});

test("a pulling Secret has Refused for its source, and Conflict for content of its own", () => {
  const cluster = new Cluster().withNamespaces("shared", "team-0", "team-1", "team-2");
  cluster.secret("shared/tls", { allow: "team-0,team-2" }, { data: { a: "1" } });
  for (const team of ["team-0", "team-1"]) cluster.secret(`${team}/mine`, { from: "shared/tls" });
  cluster.secret("team-2/none", { from: "shared/none" });
  cluster.edit("team-0/mine", (pulling) => {
    pulling.data = { a: Buffer.from("of the owner").toString("base64") };
  });
  const reasons = tell(cluster)
    .settle()
    .filter((line) => line.includes(" Warning "))
    .map((line) => line.split(":", 1).join(""));
  assert.deepEqual(reasons.toSorted(), [
    "team-0/mine Warning Conflict",
    "team-1/mine Warning Refused",
    "team-2/none Warning Refused",
  ]);
});
