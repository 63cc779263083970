import assert from "node:assert/strict";
import { test } from "node:test";
import type { Reporter } from "../../../src/controller/report/reporter.ts";
import { Cluster, globs } from "../../support/planner/planner-cluster.ts";
import { tell } from "../../support/telemetry/sent-events.ts";

function teams(count: number): Cluster {
  const cluster = new Cluster().withNamespaces("shared");
  for (let n = 0; n < count; n++) cluster.namespace(`team-${n}`);
  cluster.secret("shared/registry", { to: "team-*" }, { data: { a: "1" } });
  return cluster;
}

test("a settled change is one Event on its source with five namespaces", () => {
  const { settle } = tell(teams(7));
  assert.deepEqual(settle(), [
    "shared/registry Normal Copied: copied to 7 namespaces (team-0, team-1, team-2, team-3, team-4 and 2 more)",
  ]);
  assert.deepEqual(settle(), [], "nothing new, nothing told");
});

test("where every namespace may publish, an Event names no other namespace", () => {
  assert.deepEqual(tell(teams(2), false).settle(), [
    "shared/registry Normal Copied: copied to 2 namespaces",
  ]);
});

test("a conflict is reported when it begins, changes and returns", () => {
  const cluster = teams(2);
  cluster.secret("team-0/registry", {}, { data: { mine: "x" } });
  const { settle } = tell(cluster);
  assert.deepEqual(settle(), [
    "shared/registry Normal Copied: copied to 1 namespace (team-1)",
    "shared/registry Warning Conflict: not copied to 1 namespace (team-0): a Secret of that name already exists. Delete it, or offer it: kubectl annotate secret NAME -n NAMESPACE secretcast.io/adopt=shared/registry",
  ]);
  assert.deepEqual(settle(), []);
  cluster.delete("team-0/registry");
  assert.deepEqual(settle(), ["shared/registry Normal Copied: copied to 1 namespace (team-0)"]);
});

test("a refused source is told what is wrong, once", () => {
  const cluster = teams(1);
  cluster.annotate("shared/registry", { too: "x" });
  const { settle } = tell(cluster);
  const [line = ""] = settle();
  assert.match(line, /^shared\/registry Warning Refused: .*secretcast\.io\/too/);
  assert.deepEqual(settle(), []);
});

test("a pulling Secret's Events are on itself, and on no source", () => {
  const cluster = new Cluster().withNamespaces("shared", "team-0", "team-1");
  cluster.secret("shared/tls", { allow: "team-0" }, { data: { a: "1" } });
  cluster.secret("team-0/mine", { from: "shared/tls" }, { data: {} });
  cluster.secret("team-1/mine", { from: "shared/tls" }, { data: {} });
  assert.deepEqual(tell(cluster).settle(), [
    "team-0/mine Normal Copied: filled from shared/tls",
    "team-1/mine Warning Refused: there is no source shared/tls, or it does not allow this namespace",
  ]);
});

test("copies above the fan-out limit are reported as held", () => {
  const cluster = teams(3);
  cluster.settings = { ...cluster.settings, fanoutLimitBytes: 10 };
  const [line = ""] = tell(cluster).settle();
  assert.match(line, /^shared\/registry Warning Held: not copied to 3 namespaces \(team-0/);
});

test("a losing source learns who has the place, or that an unmanaged Secret has it", () => {
  const cluster = teams(3);
  cluster.secret("shared/second", { to: "team-*", name: "registry" }, { data: { a: "2" } });
  cluster.secret("team-0/registry", {}, { data: { mine: "x" } });
  const lines = tell(cluster).settle();
  assert.deepEqual(
    lines.filter((line) => line.startsWith("shared/second")),
    [
      "shared/second Warning Conflict: not copied to 3 namespaces (team-0, team-1, team-2): source shared/registry has the place and comes first",
    ],
  );
  assert.deepEqual(
    lines.filter((line) => line.includes("registry Warning")),
    [
      "shared/registry Warning Conflict: not copied to 1 namespace (team-0): a Secret of that name already exists. Delete it, or offer it: kubectl annotate secret NAME -n NAMESPACE secretcast.io/adopt=shared/registry",
    ],
  );
});

test("where every namespace may publish, a losing source does not learn who won", () => {
  const cluster = teams(1);
  cluster.settings = { ...cluster.settings, sourceNamespaces: globs("shared,tenant") };
  cluster.namespace("tenant");
  cluster.secret("tenant/registry", { to: "team-*" }, { data: { a: "2" } });
  const lines = tell(cluster, false).settle();
  assert.ok(
    lines.includes(
      "tenant/registry Warning Conflict: not copied to 1 namespace: another source has the place and comes first",
    ),
    lines.join(),
  );
});

test("after a refusal is over an Event says so, once", () => {
  const cluster = teams(1);
  const mistype = (to: string | undefined): void => {
    cluster.edit("shared/registry", ({ metadata }) => {
      if (to === undefined) delete metadata.annotations["secretcast.io/too"];
      else metadata.annotations["secretcast.io/too"] = to;
    });
  };
  const { settle } = tell(cluster);
  settle();
  mistype("x");
  assert.match(settle().join(), /Refused/);
  mistype(undefined);
  assert.deepEqual(settle(), ["shared/registry Normal Recovered: it is refused no longer"]);
  assert.deepEqual(settle(), []);
});

test("a pulling Secret's owner learns that a refusal is over, as a source's does", () => {
  const cluster = teams(1);
  cluster.secret("shared/tls", { allow: "team-0" }, { data: { a: "1" } });
  cluster.secret("team-0/mine", { from: "shared/tls", too: "x" }, { data: {} });
  const { settle } = tell(cluster);
  assert.match(settle().join(), /team-0\/mine Warning Refused/);
  cluster.annotate("team-0/mine", { too: undefined });
  assert.deepEqual(settle(), [
    "team-0/mine Normal Copied: filled from shared/tls",
    "team-0/mine Normal Recovered: it is refused no longer",
  ]);
});

test("copies that their source no longer wants are one Event and one line", () => {
  const cluster = teams(7);
  const { settle, linesOf } = tell(cluster);
  settle();
  cluster.annotate("shared/registry", { to: "taem-*" });
  settle();
  cluster.now += 10_000;
  assert.deepEqual(settle(), [
    "shared/registry Normal Removed: removed from 7 namespaces (team-0, team-1, team-2, team-3, team-4 and 2 more): source shared/registry no longer wants this place",
  ]);
  const [line, ...more] = linesOf("copies removed");
  assert.deepEqual(more, []);
  const { source, count, places } = line;
  assert.deepEqual([source, count], ["shared/registry", 7]);
  assert.equal(places.length, 7, "every place is named");
});

test("an Event about forged copies in one namespace names one namespace", () => {
  const cluster = teams(1);
  const { settle, linesOf } = tell(cluster);
  settle();
  const copy = cluster.secrets.get("team-0/registry");
  assert.ok(copy);
  for (const name of ["one", "two", "three"]) {
    const forged = structuredClone(copy);
    Object.assign(forged.metadata, { name, uid: `uid-of-${name}` });
    forged.metadata.annotations["secretcast.io/placed-at"] = `team-0/${name}`;
    cluster.secrets.set(`team-0/${name}`, forged);
  }
  cluster.sync();
  cluster.now += 10_000;
  assert.deepEqual(settle(), [
    "shared/registry Normal Removed: removed from 1 namespace (team-0): source shared/registry no longer wants this place",
  ]);
  assert.equal(linesOf("copies removed").at(-1)?.count, 3);
});

test("where every namespace may publish, the Event of what was removed names no namespace", () => {
  const cluster = teams(2);
  const { settle } = tell(cluster, false);
  settle();
  cluster.namespace("team-0", { accept: "false" });
  settle();
  cluster.now += 10_000;
  assert.deepEqual(settle(), [
    "shared/registry Normal Removed: removed from 1 namespace: the namespace does not accept copies of shared/registry",
  ]);
});

test("removals of a missing source have an Event on the Lease and a line", () => {
  const cluster = teams(2);
  const { settle, linesOf } = tell(cluster);
  settle();
  cluster.delete("shared/registry");
  settle();
  cluster.secret("shared/registry", {}, { data: { a: "1" } });
  cluster.now += 10_000;
  assert.deepEqual(settle(), [
    "secretcast/secretcast Normal Removed: removed from 2 namespaces (team-0, team-1): source shared/registry is gone: another object has its name now",
  ]);
  const [line] = linesOf("copies removed");
  assert.equal(line?.count, 2);
  assert.match(line.reason, /source shared\/registry is gone: another object has its name now/);
});

test("copies of a former source are reported on its Secret, kept ones included", () => {
  const cluster = teams(1);
  cluster.annotate("shared/registry", { "on-delete": "keep" });
  const { settle } = tell(cluster);
  settle();
  cluster.edit("shared/registry", ({ metadata }) => {
    metadata.annotations = {};
  });
  settle();
  cluster.now += 10_000;
  assert.deepEqual(settle(), [
    "shared/registry Normal Removed: left to 1 namespace (team-0) (on-delete: keep): shared/registry carries neither to nor to-selector any more",
  ]);
});

test("an emptied pulling Secret is reported in words that reveal no cause", () => {
  const cluster = teams(1);
  cluster.secret("shared/tls", { allow: "team-0" }, { data: { a: "1" } });
  cluster.secret("team-0/mine", { from: "shared/tls" }, { data: {} });
  const { settle } = tell(cluster);
  settle();
  cluster.annotate("shared/tls", { allow: "nobody" });
  settle();
  cluster.now += 10_000;
  const no = "there is no source shared/tls, or it does not allow this namespace";
  assert.deepEqual(settle().toSorted(), [
    `team-0/mine Normal Removed: removed its content: ${no}`,
    `team-0/mine Warning Refused: ${no}`,
  ]);
});

test("annotations without effect are an Event on the Secret, limited by namespace", () => {
  const cluster = teams(1);
  cluster.namespace("tenant");
  for (let n = 0; n < 6000; n++) cluster.secret(`tenant/spam-${n}`, { to: "*" });
  cluster.secret("team-0/mine", { to: "*" });
  cluster.namespace("odd", { accept: "sometimes" });
  const { settle } = tell(cluster);
  const ignored = settle().filter((line) => line.includes("Ignored"));
  assert.equal(ignored.filter((line) => line.startsWith("tenant/")).length, 5);
  assert.deepEqual(
    ignored.filter((line) => line.startsWith("team-0/")),
    [
      "team-0/mine Warning Ignored: secretcast.io/to has no effect here: this namespace is no source namespace (--source-namespaces); put the Secret into one, or take it off",
    ],
  );
  assert.match(
    ignored.find((line) => line.startsWith("/odd")) ?? "",
    /copies in this namespace are frozen/,
  );
  for (let n = 0; n < 50; n++) {
    cluster.now += 1000;
    cluster.secret(`tenant/more-${n}`, { to: "*" });
    assert.deepEqual(settle(), [], "five were told in this minute");
  }
});

/** Every planned write of `cluster` in these namespaces fails for a while, for one reason each. */
function failAll(cluster: Cluster, reasons: Readonly<Record<string, string>>, cause = "quota") {
  for (const action of cluster.plan().actions) {
    const reason = reasons[action.place.namespace];
    if (reason === undefined) continue;
    const failure = { reason, cause, error: "forbidden" };
    for (let tries = 0; tries < 5; tries++)
      cluster.memory.failed(action, failure, cluster.now, 0.5);
  }
}

test("a failure is one Event with its causes and namespaces, repeated when they change", () => {
  const cluster = teams(8);
  const quota = (n: number) => [`team-${n}`, "quota full would be exceeded"];
  const rest = Object.fromEntries([0, 1, 2, 3, 4, 5].map(quota));
  const reasons = { ...rest, "team-6": "no right to create secrets" };
  failAll(cluster, reasons);
  const { settle } = tell(cluster);
  const failed = (): readonly string[] => settle().filter((line) => line.includes("Failed"));
  assert.deepEqual(failed(), [
    "shared/registry Warning Failed: could not be written in 1 namespace (team-6): no right to create secrets (cause: quota); in 6 namespaces (team-0, team-1, team-2, team-3, team-4 and 1 more): quota full would be exceeded (cause: quota); will try again",
  ]);
  // All but the first are served when they are tried again.
  cluster.now += 20_000;
  failAll(cluster, { "team-0": "quota full would be exceeded", "team-6": reasons["team-6"] });
  assert.deepEqual(failed(), [], "fewer places for the same causes are no news within a minute");
  cluster.now += 60_000;
  assert.deepEqual(failed(), [
    "shared/registry Warning Failed: could not be written in 1 namespace (team-6): no right to create secrets (cause: quota); in 1 namespace (team-0): quota full would be exceeded (cause: quota); will try again",
  ]);
  cluster.now += 300_000;
  failAll(cluster, { "team-0": "webhook w.example.com refused it" });
  assert.deepEqual(failed(), [
    "shared/registry Warning Failed: could not be written in 1 namespace (team-0): webhook w.example.com refused it (cause: quota); will try again",
  ]);
});

test("where namespaces may not be named, what was made in them is not either", () => {
  const cluster = teams(2);
  failAll(cluster, {
    "team-0": "quota of-a would be exceeded",
    "team-1": "quota of-b would be exceeded",
  });
  assert.deepEqual(tell(cluster, false).settle(), [
    "shared/registry Warning Failed: could not be written in 2 namespaces: a resource quota would be exceeded (cause: quota); will try again",
  ]);
});

test("a losing source does not learn which source of another namespace has the place", () => {
  const cluster = teams(1);
  cluster.settings = { ...cluster.settings, sourceNamespaces: globs("shared,bank") };
  cluster.namespace("bank");
  cluster.secret("bank/payroll", { to: "team-*", name: "registry" }, { data: { a: "2" } });
  const lines = tell(cluster).settle();
  assert.ok(
    lines.includes(
      "bank/payroll Warning Conflict: not copied to 1 namespace (team-0): another source has the place and comes first",
    ),
    lines.join("\n"),
  );
});

test("a conflict quotes nothing of the Secret in the way", () => {
  const cluster = teams(1);
  cluster.secret("team-0/registry", { adopt: "bank/payroll" }, { data: { mine: "x" } });
  assert.deepEqual(tell(cluster).settle(), [
    "shared/registry Warning Conflict: not copied to 1 namespace (team-0): a Secret of that name already exists. Delete it, or offer it: kubectl annotate secret NAME -n NAMESPACE secretcast.io/adopt=shared/registry",
  ]);
});

test("an Event about a Namespace, which is in default, does not quote its annotation", () => {
  const cluster = teams(1);
  cluster.namespace("odd", { accept: "acquisition of ACME" });
  const lines = tell(cluster)
    .settle()
    .filter((line) => line.startsWith("/odd"));
  assert.equal(lines.length, 1);
  assert.match(
    lines[0] ?? "",
    /Ignored: .*invalid secretcast\.io\/accept: expected "true", "false" or globs/,
  );
  assert.doesNotMatch(lines[0] ?? "", /ACME/);
});

/** Another client edits the copy in each of these namespaces, until secretcast backs off there. */
function fight(cluster: Cluster, namespaces: readonly string[]): void {
  for (let edit = 0; edit < 6; edit++) {
    for (const namespace of namespaces)
      cluster.edit(`${namespace}/registry`, (copy) => {
        copy.data = { a: Buffer.from(`edit ${edit}`).toString("base64") };
      });
    cluster.now += 2000;
    cluster.sync();
  }
}

test("five copies that another client keeps changing are one Fought Event, with their number", () => {
  const cluster = teams(5);
  const { settle } = tell(cluster);
  settle();
  const names = ["team-0", "team-1", "team-2", "team-3"];
  fight(cluster, names);
  const fought = (): readonly string[] => settle().filter((line) => line.includes("Fought"));
  assert.deepEqual(fought(), [
    "shared/registry Warning Fought: copies in 4 namespaces (team-0, team-1, team-2, team-3) are repeatedly changed by another client",
  ]);
  fight(cluster, ["team-4"]);
  assert.deepEqual(fought(), [], "another place is told once a minute at most");
  cluster.now += 60_000;
  assert.deepEqual(fought(), [
    "shared/registry Warning Fought: copies in 5 namespaces (team-0, team-1, team-2, team-3, team-4) are repeatedly changed by another client",
  ]);
});

/** Every delete that is due fails, now and for a while; how many places that are. */
function refuseRemovals(cluster: Cluster, reporter: Reporter): number {
  const refused = new Set<string>();
  for (let round = 0; round < 3; round++)
    for (const action of cluster.plan().actions) {
      if (action.kind !== "delete") {
        cluster.apply(action);
        continue;
      }
      const failure = { reason: "no right to delete secrets", cause: "missingRight" } as const;
      const error = "forbidden" as const;
      const outcome = { kind: "failed", action, ...failure, error } as const;
      reporter.onOutcome({ ...outcome, retryAfterMs: undefined });
      cluster.memory.failed(action, { ...failure, error }, cluster.now, 0.5);
      refused.add(action.place.namespace);
    }
  return refused.size;
}

for (const [what, withdraw] of [
  ["to is removed", "delete"],
  ["to names nothing", "!*"],
] as const)
  test(`a removal that fails is an Event on the Secret when ${what}`, () => {
    const cluster = teams(2);
    const { settle, reporter } = tell(cluster);
    settle();
    cluster.edit("shared/registry", ({ metadata }) => {
      if (withdraw === "delete") metadata.annotations = {};
      else metadata.annotations["secretcast.io/to"] = withdraw;
    });
    cluster.sync();
    cluster.now += 10_000;
    refuseRemovals(cluster, reporter);
    const failed = (lines: readonly string[]) => lines.filter((line) => line.includes("Failed"));
    const [line = "", ...more] = failed(settle());
    assert.deepEqual(more, []);
    assert.match(
      line,
      /^shared\/registry Warning Failed: could not be \w+ in 2 namespaces.*: no right to delete secrets \(cause: missingRight\)/,
    );
    assert.deepEqual(failed(settle()), [], "once");
  });

test("forged copies that cannot be removed cause no Event on the Secret that they name", () => {
  const cluster = teams(1);
  const { settle, reporter } = tell(cluster);
  settle();
  cluster.namespace("tenant");
  cluster.secret("shared/vault", {}, { data: { a: "1" } });
  const forged = structuredClone(cluster.get("team-0/registry"));
  Object.assign(forged.metadata, { namespace: "tenant", name: "vault", uid: "uid-forged" });
  Object.assign(forged.metadata.annotations, {
    "secretcast.io/placed-at": "tenant/vault",
    "secretcast.io/source": "shared/vault",
    "secretcast.io/source-uid": "0a0a0a0a-0000-4000-8000-00000000000a",
  });
  cluster.secrets.set("tenant/vault", forged);
  cluster.sync();
  cluster.now += 20_000;
  assert.equal(refuseRemovals(cluster, reporter), 1);
  assert.deepEqual(
    settle().filter((line) => line.startsWith("shared/vault")),
    [],
  );
});

test("another order of the flag names the source that had the places", () => {
  const cluster = new Cluster().withNamespaces("platform", "shared", "team-0", "team-1");
  cluster.settings = { ...cluster.settings, sourceNamespaces: globs("platform,shared") };
  cluster.secret("platform/db", { to: "team-*" }, { data: { a: "1" } });
  cluster.secret("shared/db", { to: "team-*" }, { data: { a: "2" } });
  tell(cluster).settle();
  cluster.settings = { ...cluster.settings, sourceNamespaces: globs("shared,platform") };
  const { settle, linesOf } = tell(cluster);
  const [event] = settle().filter((line) => line.includes("Copied"));
  assert.equal(
    event,
    "shared/db Normal Copied: copied to 2 namespaces (team-0, team-1); takes 2 places over from platform/db",
  );
  const [line] = linesOf("copied");
  assert.deepEqual([line?.source, line?.takenFrom], ["shared/db", ["platform/db"]]);
});

test("where every namespace may publish, a source does not learn which one had the places", () => {
  const cluster = new Cluster().withNamespaces("platform", "shared", "team-0");
  cluster.settings = { ...cluster.settings, sourceNamespaces: globs("platform,shared") };
  cluster.secret("platform/db", { to: "team-*" }, { data: { a: "1" } });
  cluster.secret("shared/db", { to: "team-*" }, { data: { a: "2" } });
  tell(cluster).settle();
  cluster.settings = { ...cluster.settings, sourceNamespaces: globs("shared,platform") };
  const [event] = tell(cluster, false)
    .settle()
    .filter((line) => line.includes("Copied"));
  assert.equal(
    event,
    "shared/db Normal Copied: copied to 1 namespace; takes 1 place over from another source",
  );
});

test("a client that changes a copy every ten minutes is one Fought Event", () => {
  const cluster = teams(1);
  const { settle } = tell(cluster);
  settle();
  const fought: (readonly string[])[] = [];
  for (let edit = 0; edit < 6; edit++) {
    cluster.now += 600_000;
    cluster.edit("team-0/registry", (copy) => {
      copy.data = { a: Buffer.from(`edit ${edit}`).toString("base64") };
    });
    fought.push(settle().filter((line) => line.includes("Fought")));
  }
  const event =
    "shared/registry Warning Fought: copies in 1 namespace (team-0) are repeatedly changed by another client";
  assert.deepEqual(fought, [[], [], [event], [], [], []]);
});
