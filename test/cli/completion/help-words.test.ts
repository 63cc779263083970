import assert from "node:assert/strict";
import { test } from "node:test";
import { helpWords } from "../../../src/cli/completion/help-words.ts";

const HELP = `secretcast run

Run the controller

Commands:
  secretcast run                 Run the controller
  secretcast explain <name>      Why a Secret is copied  [default]
  secretcast migrate             From another tool

Which cluster:
      --kubeconfig  path to a kubeconfig  [string]
  -n, --namespace   only this namespace  [string]
  -A, --all         every namespace  [boolean]
      --port        a port  [number] [default: 0]
      --from        which tool  [choices: "reflector", "kubed"]
      --bare

Examples:
  secretcast run --not-a-flag  what it does
`;

test("commands, flags, short forms, values and choices are read out of a help", () => {
  const { commands, flags } = helpWords(HELP);
  assert.deepEqual(commands, [
    { name: "run", about: "Run the controller" },
    { name: "explain", about: "Why a Secret is copied" },
    { name: "migrate", about: "From another tool" },
  ]);
  assert.deepEqual(
    flags.map(({ name, short = "", takesValue, choices }) => [name, short, takesValue, choices]),
    [
      ["--kubeconfig", "", true, []],
      ["--namespace", "-n", true, []],
      ["--all", "-A", false, []],
      ["--port", "", true, []],
      ["--from", "", true, ["reflector", "kubed"]],
      ["--bare", "", false, []],
    ],
  );
});

test("a help of thousands of lines is read in bounded time", () => {
  assert.deepEqual(helpWords(""), { commands: [], flags: [] });
  assert.deepEqual(helpWords(`  --x${" ".repeat(100_000)}\n`.repeat(10)).commands, []);
});
