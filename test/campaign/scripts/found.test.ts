// What chaos found, as short as it could be shrunk: each was wrong once.
import assert from "node:assert/strict";
import { test } from "node:test";
import { OWN_NAMESPACE, SOURCE_LIST } from "../actors/actors.ts";
import { PLAIN_FLAGS, type ChaosStep, type Script } from "./script.ts";
import { play } from "../stages/stage.ts";

type SourceStep = Extract<ChaosStep, { readonly kind: "source" }>;

/** Of type Opaque and not immutable, unless `rest` says otherwise. */
const source = (
  namespace: string,
  name: string,
  words: SourceStep["words"],
  rest: Partial<SourceStep> = {},
): SourceStep => ({
  kind: "source",
  namespace,
  name,
  words,
  type: "Opaque",
  immutable: false,
  ...rest,
});

/** The list does not contain that entry, or not any more. */
const OF_ANOTHER_ENTRY = { entry: "gone", list: `${OWN_NAMESPACE}/${SOURCE_LIST}` };

const FOUND: Readonly<Record<string, Partial<Script> & { readonly steps: readonly ChaosStep[] }>> =
  {
    "a source made again as a Helm release, which no watch shows, is gone for good": {
      steps: [
        source("shared", "two", { to: "*" }, { immutable: true }),
        source("shared", "two", { to: "*" }, { type: "helm.sh/release.v1" }),
        { kind: "pass", ms: 400_000 },
        { kind: "delete", namespace: "shared", name: "two" },
      ],
    },
    "what an entry made and dropped ends, beside a copy that is frozen for its source's namespace":
      {
        steps: [
          { kind: "list", entries: { none: "- no mapping" }, strange: false },
          { kind: "stranger", namespace: "team-a", name: "three", words: {} },
          {
            kind: "forge",
            name: "two",
            source: "team-b/one",
            uid: "uid-9",
            words: OF_ANOTHER_ENTRY,
          },
          { kind: "forge", name: "three", source: "team-b/one", uid: "uid-9", words: {} },
        ],
      },
    "a copy that a newer version marks while it is about to be deleted stays": {
      chance: 0,
      graceMs: 1000,
      steps: [
        { kind: "stranger", namespace: "shared-2", name: "two", words: { adopt: "shared-2/two" } },
        source("shared", "one", { to: "*", allow: "*" }, { type: "example.com/x" }),
        { kind: "watches", fault: "stale" },
        { kind: "doom", namespace: "shared", name: "one" },
        source(
          "shared",
          "one",
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
        { kind: "pass", ms: 2000 },
        { kind: "watches", fault: "stale" },
        { kind: "say", word: "future", value: "mark", namespace: "team-b", name: "one" },
      ],
    },
    "what an entry made and dropped stays while its source is not read, although another wants the place":
      {
        flags: { ...PLAIN_FLAGS, namespaces: "team-a,team-b,shared" },
        steps: [
          { kind: "list", entries: { none: "- no mapping" }, strange: false },
          {
            kind: "forge",
            name: "two",
            source: "team-c/one",
            uid: "uid-9",
            words: OF_ANOTHER_ENTRY,
          },
          source("shared", "two", { to: "*" }),
        ],
      },
    "a Secret that lets itself be adopted, with a word that nobody knows, stays as it is": {
      steps: [
        {
          kind: "stranger",
          namespace: "team-a",
          name: "three",
          words: { adopt: "shared-2/three" },
        },
        {
          kind: "say",
          word: "to-selecter",
          value: "typo",
          namespace: "team-a",
          name: "three",
        },
        source("shared-2", "three", { to: "*", allow: "*" }),
        { kind: "pass", ms: 0 },
      ],
    },
    "what an entry filled in stays while a refused entry names its source, also when that is gone":
      {
        steps: [
          {
            kind: "pull",
            namespace: "team-b",
            name: "pull-2",
            words: { from: "shared/two", keys: "x=user" },
          },
          source("shared", "two", {}),
          {
            kind: "list",
            entries: { offer: '{"secret":"shared/two","allow":"*"}' },
            strange: false,
          },
          { kind: "pass", ms: 60_000 },
          {
            kind: "list",
            entries: { typo: '{"secret":"shared/two","to":"*","keyz":"x"}' },
            strange: false,
          },
          { kind: "delete", namespace: "shared", name: "two" },
        ],
      },
    "who ended by himself and is stopped by a roll-out is not begun again meanwhile": {
      replicas: 2,
      steps: [
        { kind: "requests", fault: "lost", likelihood: 0.5, ms: 20_000 },
        { kind: "pass", ms: 2000 },
        source("shared-2", "two", { to: "" }, { immutable: true }),
        ...Array.from({ length: 5 }, () => ({ kind: "pass", ms: 2000 }) as const),
        { kind: "restart", replica: 0, how: "stop" },
        { kind: "roll out", flags: PLAIN_FLAGS },
      ],
    },
    "a faulty list that is deleted, where no ConfigMap is read, stops nothing": {
      chance: 5,
      flags: {
        sourceNamespaces: "shared,shared-2",
        policy: "opt-out",
        exclude: "team-c",
        includeSystem: true,
        namespaces: "",
        copyable: "",
        configMaps: true,
      },
      steps: [
        source(
          "shared",
          "three",
          { to: "*", "on-delete": "keep", "copy-labels": "*" },
          { immutable: true },
        ),
        { kind: "pass", ms: 0 },
        {
          kind: "roll out",
          flags: {
            sourceNamespaces: "shared-*,shared",
            policy: "opt-in",
            exclude: "",
            includeSystem: false,
            namespaces: "",
            copyable: "",
            configMaps: false,
          },
        },
        { kind: "requests", fault: "hang", likelihood: 0.5, ms: 20000 },
        { kind: "list", entries: { none: "- no mapping" }, strange: false },
        source(
          "shared",
          "three",
          { to: "*", "on-delete": "keep", "copy-labels": "*" },
          { type: "kubernetes.io/tls" },
        ),
        { kind: "moment", ms: 50 },
        { kind: "list", entries: null, strange: false },
      ],
    },
    "a copy that etcd brings back after its delete was answered is seen, and ends again": {
      chance: 9,
      replicas: 1,
      graceMs: 1000,
      deleteLimit: 100,
      sourceGraceMs: 10_000,
      holdMs: 0,
      flags: {
        sourceNamespaces: "shared",
        policy: undefined,
        exclude: "",
        includeSystem: false,
        namespaces: "team-a,team-b,shared",
        copyable: "argocd.argoproj.io/*,owner",
        configMaps: false,
        holdsCreates: true,
      },
      steps: [
        source("shared-2", "one", { to: "*", allow: "*" }, { type: "example.com/x" }),
        { kind: "watches", fault: "reboot" },
        {
          kind: "namespace",
          namespace: "team-b",
          words: { accept: "maybe" },
          tier: "tin",
          gone: true,
        },
        source("shared", "two", { to: "*", allow: "*" }),
        {
          kind: "list",
          entries: {
            all: '{"secret":"shared/one","to":"*"}',
            offer: '{"secret":"shared/two","allow":"*"}',
            empty: '{"secret":"shared-2/one","to":""}',
          },
          strange: false,
        },
        {
          kind: "roll out",
          flags: {
            sourceNamespaces: "!team-b",
            policy: "opt-out",
            exclude: "",
            includeSystem: false,
            namespaces: "",
            copyable: "",
            configMaps: false,
          },
        },
        { kind: "requests", fault: "503", likelihood: 1, ms: 300 },
        source("shared-2", "two", { to: "*", allow: "*" }),
        {
          kind: "namespace",
          namespace: "shared-2",
          words: { accept: "!shared/one" },
          tier: "tin",
          gone: true,
        },
        { kind: "pass", ms: 2000 },
        { kind: "restore", back: 3 },
      ],
    },
    "a copy that etcd brings back is seen though the watch never told of its deletion": {
      graceMs: 1000,
      steps: [
        source("shared", "one", { to: "team-a,team-b" }),
        { kind: "pass", ms: 2000 },
        { kind: "delete", namespace: "shared", name: "one" },
        { kind: "moment", ms: 500 },
        { kind: "watches", fault: "deafen" },
        { kind: "pass", ms: 2000 },
        { kind: "restore", back: 2 },
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
          exclude: "",
          includeSystem: true,
          configMaps: true,
        },
        steps: [
          { kind: "restore", back: 100 },
          { kind: "moment", ms: 1500 },
          { kind: "requests", fault: "slow", likelihood: 0.5, ms: 3000 },
          source(
            "shared",
            "three",
            { to: "team-a,!team-b", "to-selector": "tier=gold", match: "any" },
            { of: "ConfigMap" },
          ),
          { kind: "pass", ms: 400_000 },
        ],
      },
    "what an entry made and dropped stays as it is while its source is a pulling Secret with a faulty word":
      {
        steps: [
          source("shared", "one", { to: "team-*" }),
          { kind: "pass", ms: 2000 },
          { kind: "say", word: "from", value: "team-a/two", namespace: "team-b", name: "one" },
          { kind: "list", entries: { none: "- no mapping" }, strange: false },
          {
            kind: "forge",
            name: "two",
            source: "team-b/one",
            uid: "uid-9",
            words: OF_ANOTHER_ENTRY,
          },
        ],
      },
    "what was to be kept goes where its source, which asks for no copies any more, says so": {
      steps: [
        source("shared", "two", { to: "*", "on-delete": "keep" }),
        { kind: "pass", ms: 5000 },
        source("shared", "two", { "on-delete": "delete" }),
      ],
    },
    "copies go where their source is a pulling ConfigMap by now, which keeps its own entries": {
      flags: { ...PLAIN_FLAGS, policy: "opt-in", configMaps: true },
      steps: [
        {
          kind: "namespace",
          namespace: "team-b",
          words: { accept: "true" },
          tier: "tin",
          gone: false,
        },
        source("shared-2", "one", { to: "*" }, { of: "ConfigMap" }),
        { kind: "restart", replica: 0, how: "stop" },
        { kind: "moment", ms: 0 },
        { kind: "restart", replica: 0, how: "stop" },
        { kind: "watches", fault: "reboot" },
        { kind: "pass", ms: 2000 },
        {
          kind: "pull",
          namespace: "shared-2",
          name: "one",
          words: { from: "shared-2/three", keys: "x=user", "on-delete": "keep" },
          of: "ConfigMap",
        },
        { kind: "requests", fault: "lost", likelihood: 1, ms: 300 },
        { kind: "pass", ms: 2000 },
      ],
    },
    "a source that no watch shows keeps no copies, whatever it says": {
      steps: [
        source(
          "shared",
          "two",
          { to: "team-*", name: "three", "on-delete": "keep" },
          { type: "helm.sh/release.v1" },
        ),
        { kind: "forge", name: "forged", source: "shared/two", uid: "uid-1", words: {} },
      ],
    },
    "what was sent by one who lost its Lease is judged by the flags that it had then": {
      chance: 48,
      replicas: 2,
      steps: [
        { kind: "pass", ms: 5000 },
        { kind: "requests", fault: "slow", likelihood: 0.5, ms: 20_000 },
        source("shared", "one", { to: "*" }),
        { kind: "pass", ms: 300 },
        { kind: "restore", back: 20 },
        { kind: "requests", fault: "away", likelihood: 0.5, ms: 300 },
        { kind: "roll out", flags: { ...PLAIN_FLAGS, namespaces: "shared" } },
      ],
    },
    "what was filled from a source that is gone ends after a death too, when its grace and hold began anew":
      {
        chance: 0,
        sourceGraceMs: 60_000,
        holdMs: 30_000,
        steps: [
          {
            kind: "pull",
            namespace: "shared",
            name: "pull-1",
            words: { from: "shared/two", "on-delete": "delete" },
          },
          source("shared", "two", { allow: "team-*", "allow-selector": "tier=gold", match: "any" }),
          { kind: "moment", ms: 5 },
          { kind: "delete", namespace: "shared", name: "two" },
          { kind: "forge", name: "one", source: "team-b/one", uid: "uid-1", words: {} },
          { kind: "dies after", method: "DELETE" },
          {
            kind: "roll out",
            flags: {
              ...PLAIN_FLAGS,
              sourceNamespaces: "*,!team-c",
              policy: "opt-out",
              includeSystem: true,
            },
          },
        ],
      },
    "a place is reserved for its source after a death within a replace, also while that source is refused":
      {
        steps: [
          {
            kind: "roll out",
            flags: { ...PLAIN_FLAGS, sourceNamespaces: "shared,*", policy: "opt-out" },
          },
          {
            kind: "source",
            words: { to: "*" },
            type: "Opaque",
            immutable: false,
            namespace: "shared-2",
            name: "one",
          },
          {
            kind: "source",
            words: { to: "*" },
            type: "Opaque",
            immutable: true,
            namespace: "shared",
            name: "one",
          },
          { kind: "pass", ms: 2000 },
          { kind: "dies after", method: "DELETE" },
          {
            kind: "source",
            words: { to: "*" },
            type: "Opaque",
            immutable: false,
            namespace: "shared",
            name: "one",
          },
          { kind: "fill", entries: 1, bytes: 524_289, namespace: "shared", name: "one" },
          {
            kind: "say",
            word: "keys",
            value: "x=filled-0,y=filled-0",
            namespace: "shared",
            name: "one",
          },
        ],
      },
    "a process that may not release its Lease ends all the same": {
      replicas: 2,
      steps: [
        { kind: "pass", ms: 2000 },
        { kind: "requests", fault: "409", likelihood: 1, ms: 20_000 },
        { kind: "restart", replica: 0, how: "stop" },
        { kind: "restart", replica: 1, how: "stop" },
      ],
    },
  };

for (const [name, script] of Object.entries(FOUND))
  test(name, async () => {
    const { wrong } = await play({
      chance: 0,
      replicas: 1,
      flags: PLAIN_FLAGS,
      graceMs: 10_000,
      deleteLimit: 100,
      sourceGraceMs: 10_000,
      holdMs: 0,
      ...script,
    });
    assert.deepEqual(wrong, []);
  });
