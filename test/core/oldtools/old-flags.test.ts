// The old tool's own settings, as its command line and its environment give them.
import assert from "node:assert/strict";
import { test } from "node:test";
import { oldFlags } from "../../../src/core/oldtools/old-flags.ts";

test("a flag's value stands behind its sign or in the next word, and a flag with neither is true", () => {
  for (const [words, value] of [
    [["--allow-all=false"], "false"],
    [["-allow-all="], ""],
    [["--allow-all", "false"], "false"],
    [["--allow-all", "-v=2"], "true"],
    [["-v=2", "--allow-all"], "true"],
    [["allow-all"], undefined],
    [[], undefined],
  ] as const) {
    assert.equal(oldFlags(words).flag("allow-all"), value, JSON.stringify(words));
  }
});
