// The old tool's own settings, as its command line and its environment give them.
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  hiddenSettings,
  oldFlags,
  wordsAlone,
  type OldContainer,
} from "../../../src/migrate/oldtools/old-settings.ts";
import { OLD_TOOL } from "../../../src/migrate/oldtools/old-tools.ts";

const { settings } = OLD_TOOL.replicator;

test("a flag of Go has its value after the sign, except booleans", () => {
  for (const [words, value] of [
    [["--allow-all=false"], "false"],
    [["-allow-all="], ""],
    [["--allow-all", "-v=2"], "true"],
    [["-v=2", "--allow-all"], "true"],
    [["-log-level", "debug", "--allow-all"], "true"],
    [["/replicator", "-allow-all"], "true"],
    [["-allow-all=false", "-allow-all"], "true"],
    // Go reads no flag behind a word that belongs to none.
    [["-replicate-secrets", "false", "-allow-all"], undefined],
    [["allow-all"], undefined],
    [[], undefined],
  ] as const) {
    assert.equal(
      oldFlags(settings, wordsAlone(words)).flag("allow-all"),
      value,
      JSON.stringify(words),
    );
  }
});

test("a flag with text takes the next word, whatever it begins with", () => {
  for (const words of [["-exclude-namespaces", "-x"], ["--exclude-namespaces=-x"]]) {
    assert.equal(oldFlags(settings, wordsAlone(words)).flag("exclude-namespaces"), "-x");
  }
});

function container(given: Partial<OldContainer>): OldContainer {
  return { ...wordsAlone([]), ...given };
}

test("Reflector's setting is read under each name that .NET accepts for it", () => {
  const of = OLD_TOOL.reflector.settings;
  for (const given of [
    { environment: { ES_Reflector__Watcher__ExcludedNamespaces: "dev-*" } },
    { environment: { "ES_Reflector:Watcher:ExcludedNamespaces": "dev-*" } },
    { environment: { es_reflector__watcher__excludednamespaces: "dev-*" } },
    { words: ["--Reflector:Watcher:ExcludedNamespaces=dev-*"] },
    { words: ["--excluded-namespaces", "dev-*"] },
    {
      words: ["--Reflector:Watcher:ExcludedNamespaces=$(EXCLUDED)"],
      environment: { EXCLUDED: "dev-*" },
    },
  ]) {
    assert.equal(oldFlags(of, container(given)).flag("excluded-namespaces"), "dev-*");
  }
  const other = container({ environment: { ES_Reflector__ExcludedNamespaces: "dev-*" } });
  assert.equal(oldFlags(of, other).flag("excluded-namespaces"), undefined);
});

test("a setting with a value in a ConfigMap or Secret is named", () => {
  const of = OLD_TOOL.reflector.settings;
  const name = "ES_Reflector__Watcher__ExcludedNamespaces";
  assert.deepEqual(hiddenSettings(of, container({ hidden: [name] })), [name]);
  assert.deepEqual(hiddenSettings(of, container({ hiddenNames: true })), [name]);
  assert.deepEqual(hiddenSettings(of, container({ hidden: ["LANG"] })), []);
  assert.deepEqual(hiddenSettings(settings, container({ hiddenNames: true })), []);
});
