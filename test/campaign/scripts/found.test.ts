// What chaos found, as short as it could be shrunk: each was wrong once.
import assert from "node:assert/strict";
import { test } from "node:test";
import { LIST_PLACE } from "../actors/actors.ts";
import { play } from "../stages/stage.ts";
import {
  deleted,
  forge,
  list,
  moment,
  pass,
  pull,
  requests,
  restore,
  rollOut,
  say,
  source,
  space,
  stopped,
  stranger,
  watches,
} from "./by-hand.ts";
import { PLAIN_FLAGS, PLAIN_SCRIPT, type ChaosStep, type Script } from "./script.ts";

/** The list does not contain that entry, or not any more. */
const OF_ANOTHER_ENTRY = { entry: "gone", list: LIST_PLACE };
const NO_ENTRY = list({ none: "- no mapping" });
const EVERYWHERE = { to: "*", allow: "*" };

type Found = Partial<Script> & { readonly steps: readonly ChaosStep[] };
const FOUND: Readonly<Record<string, Found>> = {
  "a source made again as a Helm release, which no watch shows, is gone for good": {
    steps: [
      source("shared/two", { to: "*" }, { immutable: true }),
      source("shared/two", { to: "*" }, { type: "helm.sh/release.v1" }),
      pass(400_000),
      deleted("shared/two"),
    ],
  },
  "what an entry made and dropped ends, beside a copy that is frozen for its source's namespace": {
    steps: [
      NO_ENTRY,
      stranger("team-a/three"),
      forge("two", "team-b/one", "uid-9", OF_ANOTHER_ENTRY),
      forge("three", "team-b/one", "uid-9"),
    ],
  },
  "a copy that a newer version marks while it is about to be deleted stays": {
    graceMs: 1000,
    steps: [
      stranger("shared-2/two", { adopt: "shared-2/two" }),
      source("shared/one", EVERYWHERE, { type: "example.com/x" }),
      watches("stale"),
      { kind: "doom", namespace: "shared", name: "one" },
      source(
        "shared/one",
        {
          to: "team-*",
          "to-selector": "tier=gold",
          name: "one",
          keys: "*",
          "copy-annotations": "*",
          "on-delete": "delete",
          paused: "false",
          allow: "*",
        },
        { type: "example.com/x" },
      ),
      pass(2000),
      watches("stale"),
      say("team-b/one", "future", "mark"),
    ],
  },
  "a copy that its owner deletes while the watches are cut has no receipt of a delete of ours": {
    graceMs: 1000,
    steps: [
      space("team-a", { accept: "false" }),
      forge("two", "team-b/one", "made-up", {}, { of: "ConfigMap" }),
      rollOut({ sourceNamespaces: "*", exclude: "team-?,!team-a", configMaps: true }),
      moment(300),
      watches("cut"),
      { kind: "doom", namespace: "team-a", name: "two", of: "ConfigMap" },
      pass(2000),
    ],
  },
  "what an entry made and dropped stays while its source is not read, although another wants the place":
    {
      flags: { ...PLAIN_FLAGS, namespaces: "team-a,team-b,shared" },
      steps: [
        NO_ENTRY,
        forge("two", "team-c/one", "uid-9", OF_ANOTHER_ENTRY),
        source("shared/two", { to: "*" }),
      ],
    },
  "a Secret that lets itself be adopted, with a word that nobody knows, stays as it is": {
    steps: [
      stranger("team-a/three", { adopt: "shared-2/three" }),
      say("team-a/three", "to-selecter", "typo"),
      source("shared-2/three", EVERYWHERE),
      pass(0),
    ],
  },
  "what an entry filled in stays while a refused entry names its source, also when that is gone": {
    steps: [
      pull("team-b/pull-2", { from: "shared/two", keys: "x=user" }),
      source("shared/two", {}),
      list({ offer: '{"secret":"shared/two","allow":"*"}' }),
      pass(60_000),
      list({ typo: '{"secret":"shared/two","to":"*","keyz":"x"}' }),
      deleted("shared/two"),
    ],
  },
  "who ended by himself and is stopped by a roll-out is not begun again meanwhile": {
    replicas: 2,
    steps: [
      requests("lost", 0.5, 20_000),
      pass(2000),
      source("shared-2/two", { to: "" }, { immutable: true }),
      ...Array.from({ length: 5 }, () => pass(2000)),
      stopped(0),
      rollOut({}),
    ],
  },
  "a faulty list that is deleted, where no ConfigMap is read, stops nothing": {
    chance: 5,
    flags: {
      ...PLAIN_FLAGS,
      policy: "opt-out",
      exclude: "team-c",
      includeSystem: true,
      configMaps: true,
    },
    steps: [
      source(
        "shared/three",
        { to: "*", "on-delete": "keep", "copy-labels": "*" },
        { immutable: true },
      ),
      pass(0),
      rollOut({ sourceNamespaces: "shared-*,shared", policy: "opt-in" }),
      requests("hang", 0.5, 20_000),
      NO_ENTRY,
      source(
        "shared/three",
        { to: "*", "on-delete": "keep", "copy-labels": "*" },
        { type: "kubernetes.io/tls" },
      ),
      moment(50),
      list(null),
    ],
  },
  "a copy that etcd brings back after its delete was answered is seen, and ends again": {
    chance: 9,
    graceMs: 1000,
    flags: {
      ...PLAIN_FLAGS,
      sourceNamespaces: "shared",
      namespaces: "team-a,team-b,shared",
      copyable: "argocd.argoproj.io/*,owner",
      holdsCreates: true,
    },
    steps: [
      source("shared-2/one", EVERYWHERE, { type: "example.com/x" }),
      watches("reboot"),
      space("team-b", { accept: "maybe" }, { tier: "tin", gone: true }),
      source("shared/two", EVERYWHERE),
      list({
        all: '{"secret":"shared/one","to":"*"}',
        offer: '{"secret":"shared/two","allow":"*"}',
        empty: '{"secret":"shared-2/one","to":""}',
      }),
      rollOut({ sourceNamespaces: "!team-b", policy: "opt-out" }),
      requests("503", 1, 300),
      source("shared-2/two", EVERYWHERE),
      space("shared-2", { accept: "!shared/one" }, { tier: "tin", gone: true }),
      pass(2000),
      restore(3),
    ],
  },
  "a copy that etcd brings back is seen though the watch never told of its deletion": {
    graceMs: 1000,
    steps: [
      source("shared/one", { to: "team-a,team-b" }),
      pass(2000),
      deleted("shared/one"),
      moment(500),
      watches("deafen"),
      pass(2000),
      restore(2),
    ],
  },
  "a leader whose Lease an etcd restored from before it has forgotten may go on until the renew deadline":
    {
      chance: 999_983,
      replicas: 2,
      flags: {
        ...PLAIN_FLAGS,
        sourceNamespaces: "*",
        policy: "opt-out",
        includeSystem: true,
        configMaps: true,
      },
      steps: [
        restore(100),
        moment(1500),
        requests("slow", 0.5, 3000),
        source(
          "shared/three",
          { to: "team-a,!team-b", "to-selector": "tier=gold", match: "any" },
          { of: "ConfigMap" },
        ),
        pass(400_000),
      ],
    },
  "what an entry made and dropped stays as it is while its source is a pulling Secret with a faulty word":
    {
      steps: [
        source("shared/one", { to: "team-*" }),
        pass(2000),
        say("team-b/one", "from", "team-a/two"),
        NO_ENTRY,
        forge("two", "team-b/one", "uid-9", OF_ANOTHER_ENTRY),
      ],
    },
  "what was to be kept goes where its source, which asks for no copies any more, says so": {
    steps: [
      source("shared/two", { to: "*", "on-delete": "keep" }),
      pass(5000),
      source("shared/two", { "on-delete": "delete" }),
    ],
  },
  "copies go where their source is a pulling ConfigMap by now, which keeps its own entries": {
    flags: { ...PLAIN_FLAGS, policy: "opt-in", configMaps: true },
    steps: [
      space("team-b", { accept: "true" }, { tier: "tin" }),
      source("shared-2/one", { to: "*" }, { of: "ConfigMap" }),
      stopped(0),
      moment(0),
      stopped(0),
      watches("reboot"),
      pass(2000),
      pull(
        "shared-2/one",
        { from: "shared-2/three", keys: "x=user", "on-delete": "keep" },
        { of: "ConfigMap" },
      ),
      requests("lost", 1, 300),
      pass(2000),
    ],
  },
  "a source that no watch shows keeps no copies, whatever it says": {
    steps: [
      source(
        "shared/two",
        { to: "team-*", name: "three", "on-delete": "keep" },
        { type: "helm.sh/release.v1" },
      ),
      forge("forged", "shared/two", "uid-1"),
    ],
  },
  "what was sent by one who lost its Lease is judged by the flags that it had then": {
    chance: 48,
    replicas: 2,
    steps: [
      pass(5000),
      requests("slow", 0.5, 20_000),
      source("shared/one", { to: "*" }),
      pass(300),
      restore(20),
      requests("away", 0.5, 300),
      rollOut({ namespaces: "shared" }),
    ],
  },
  "what was filled from a source that is gone ends after a death too, when its grace and hold began anew":
    {
      holdMs: 30_000,
      steps: [
        pull("shared/pull-1", { from: "shared/two", "on-delete": "delete" }),
        source("shared/two", { allow: "team-*", "allow-selector": "tier=gold", match: "any" }),
        moment(5),
        deleted("shared/two"),
        forge("one", "team-b/one", "uid-1"),
        { kind: "dies after", method: "DELETE" },
        rollOut({ sourceNamespaces: "*,!team-c", policy: "opt-out", includeSystem: true }),
      ],
    },
  "after a death within a replace, the place goes to the source that may have it": {
    steps: [
      rollOut({ sourceNamespaces: "shared,*", policy: "opt-out" }),
      source("shared-2/one", { to: "*" }),
      source("shared/one", { to: "*" }, { immutable: true }),
      pass(2000),
      { kind: "dies after", method: "DELETE" },
      source("shared/one", { to: "*" }),
      { kind: "fill", entries: 1, bytes: 524_289, namespace: "shared", name: "one" },
      say("shared/one", "keys", "x=filled-0,y=filled-0"),
    ],
  },
  "an entry that says nothing of keep decides for what a source of another UID left": {
    holdMs: 0,
    steps: [
      forge("forged", "shared/three", "uid-1", { "on-delete": "keep" }),
      source("shared/three", {}),
      list({ long: JSON.stringify({ secret: "shared/three", to: "*" }) }),
    ],
  },
  "a process that may not release its Lease ends all the same": {
    replicas: 2,
    steps: [pass(2000), requests("409", 1, 20_000), stopped(0), stopped(1)],
  },
};

for (const [name, script] of Object.entries(FOUND))
  test(name, async () => {
    const { wrong } = await play({ ...PLAIN_SCRIPT, ...script });
    assert.deepEqual(wrong, []);
  });
