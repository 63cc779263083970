// The catalogue of reasons: sentences and codes.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import {
  because,
  followedBy,
  reasonText,
  reportedReason,
  says,
} from "../../../src/controller/model/reasons.ts";

const ROOT = join(import.meta.dirname, "../../..");

test("a reason is one line of its sentence with its parameters", () => {
  const gone = because("SourceGone", { source: "shared/registry" });
  const later = because("RemovedLater", { seconds: 10, flag: "--delete-grace" });
  const reason = followedBy(followedBy(gone, later), because("NotConfirmed", { error: "timeout" }));
  assert.equal(
    reasonText(reason),
    "source shared/registry is gone; will be removed after 10s (--delete-grace), but timeout",
  );
  assert.deepEqual(
    (["SourceGone", "NotConfirmed", "Held"] as const).map((code) => says(reason, code)),
    [true, true, false],
  );
});

test("a parameter that looks like a placeholder is printed as it is", () => {
  assert.equal(reasonText(because("WriteFailed", { error: "{error} $& {x}" })), "{error} $& {x}");
});

test("text of others in a reason is escaped where the reason is made", () => {
  const key = "a\u202e\n\u001b[2J";
  const reason = because("EntryOfUnknownList", { key, list: "secretcast/secretcast-sources" });
  const escaped = String.raw`a\u202e\u000a\u001b[2J`;
  assert.ok(reasonText(reason).includes(`entry ${escaped} of a source list`), reasonText(reason));
  assert.equal(reasonText(reportedReason("Reported", key)), escaped);
});

test("a reason that a controller of another version reported keeps its sentence", () => {
  const unknown = reportedReason("FromTheFuture", "what it said");
  assert.deepEqual([unknown.code, reasonText(unknown)], ["Reported", "what it said"]);
  const known = reportedReason("SourcePaused", "what it said");
  assert.deepEqual([known.code, reasonText(known)], ["SourcePaused", "what it said"]);
  assert.equal(reportedReason("toString", "x").code, "Reported");
});

test("the planner and its memory have no sentence of their own", () => {
  const found = ["plan", "state"].flatMap((folder) => {
    const path = join(ROOT, "src/controller", folder);
    return readdirSync(path).flatMap((file) => {
      const code = readFileSync(join(path, file), "utf8").replaceAll(
        /^\s*(?:\/\/|\*|\/\*).*$/gm,
        "",
      );
      const texts = code.replaceAll(/new Error\([^)]*\)/g, "").match(/"[^"\n]*"|`[^`]*`/g) ?? [];
      return texts
        .filter((text) =>
          /(?:\b[a-z]+\b[ ,]+){3,}[a-z]+/.test(text.replaceAll(/\$\{[^}]*\}/g, "0")),
        )
        .map((text) => `${file}: ${text}`);
    });
  });
  assert.deepEqual(found, []);
});
