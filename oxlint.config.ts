// The lint rules of the project. Which folder may import which is one table, `WALLS`: a folder imports
// its own files, the folders in its row and nothing else of ours.
import { join, relative } from "node:path";

const NODE = ["node:*", "node:*/promises"];
const PURE = [
  "controller/annotations",
  "controller/model",
  "controller/desired",
  "controller/observed",
  "controller/state",
  "controller/plan",
  "cli/explanation",
  "cli/holding",
  "migrate/moves",
  "migrate/oldtools",
  ...["external", "kyverno", "patterns", "projection"].map((tool) => `migrate/oldtools/${tool}`),
  "text",
];

type Wall = {
  /** Folders of src whose files it may import; a file is named without its extension. */
  readonly from: readonly string[];
  /** Packages, and `node:` modules. */
  readonly packages: readonly string[];
};

const KUBE = (...rooms: readonly string[]): readonly string[] =>
  rooms.map((room) => `kube/${room}`);
const RULES = (...rooms: readonly string[]): readonly string[] =>
  rooms.map((room) => `controller/${room}`);

// Its types alone, by 'import type': test/architecture.test.ts.
const CLIENT_NODE = "@kubernetes/client-node";

export const WALLS: Readonly<Record<string, Wall>> = {
  text: { from: [], packages: ["js-yaml", "node:crypto"] },

  "kube/time": { from: [], packages: ["node:os", "node:timers/promises"] },
  "kube/kubeconfig": {
    from: KUBE("json", "time"),
    packages: [CLIENT_NODE, "js-yaml", ...NODE],
  },
  "kube/parsing": { from: [], packages: NODE },
  "kube/connections": {
    from: KUBE("kubeconfig"),
    packages: ["fast-deep-equal", "undici", "undici/lib/**", ...NODE],
  },
  "kube/rest": {
    from: KUBE("json", "time", "kubeconfig", "parsing", "connections"),
    packages: ["undici", ...NODE],
  },
  "kube/store": { from: KUBE("time", "rest"), packages: [] },
  "kube/cache": { from: KUBE("json", "time", "rest", "parsing", "store"), packages: NODE },
  "kube/workqueue": { from: KUBE("time"), packages: [] },
  "kube/leaderelection": { from: KUBE("time", "rest"), packages: ["fast-deep-equal", ...NODE] },
  "kube/events": { from: KUBE("lru", "time", "rest"), packages: NODE },
  "kube/portforward": {
    from: KUBE("time", "kubeconfig", "connections"),
    packages: [...NODE, "undici"],
  },
  "kube/library": {
    from: KUBE(
      "time",
      "rest",
      "kubeconfig",
      "store",
      "cache",
      "workqueue",
      "leaderelection",
      "events",
    ),
    packages: [],
  },
  kube: { from: [], packages: [] },

  "controller/annotations": { from: ["text"], packages: [] },
  "controller/model": {
    from: [...RULES("annotations"), "text"],
    packages: ["node:crypto", "node:util"],
  },
  "controller/desired": {
    from: [...RULES("annotations", "model"), "text"],
    packages: [],
  },
  "controller/observed": {
    from: [...RULES("annotations", "model", "desired"), "text"],
    packages: [],
  },
  "controller/state": {
    from: [
      ...RULES("annotations", "model", "desired", "flowcontrol/round-robin"),
      "kube/lru",
      "text",
    ],
    packages: [],
  },
  "controller/plan": {
    from: [
      ...RULES("annotations", "model", "desired", "state", "settings/units"),
      "controller/flowcontrol/round-robin",
      "text",
    ],
    packages: [],
  },
  "controller/settings": { from: [...RULES("annotations", "model"), "text"], packages: NODE },
  "controller/flowcontrol": { from: KUBE("time"), packages: [] },
  "controller/writes": {
    from: [
      ...RULES("annotations", "model", "desired", "observed", "state", "flowcontrol"),
      ...KUBE("json-patch", "rest"),
      "text",
    ],
    packages: NODE,
  },
  "controller/report": {
    from: [
      ...RULES("settings", "writes", "annotations", "model", "state"),
      ...KUBE("time", "rest", "cache", "workqueue"),
      "text",
    ],
    packages: ["pino", "prom-client", ...NODE],
  },
  "controller/sync": {
    from: [
      ...RULES(
        "writes",
        "report",
        "annotations",
        "model",
        "observed",
        "state",
        "plan",
        "flowcontrol",
      ),
      ...KUBE("time", "rest", "store", "cache", "workqueue", "leaderelection", "events"),
      "text",
    ],
    packages: NODE,
  },

  receipts: {
    from: [
      ...["controller/report/sync-log", "controller/report/log"],
      ...RULES("settings", "model", "desired", "writes"),
      ...KUBE("lru", "time", "rest"),
      "text",
    ],
    packages: NODE,
  },
  page: {
    from: [
      ...RULES("settings", "sync", "report", "annotations", "model"),
      ...KUBE("time", "rest", "cache", "leaderelection"),
      "text",
    ],
    packages: NODE,
  },
  run: {
    from: [
      "page",
      "receipts",
      ...RULES("settings", "sync", "writes", "report", "annotations", "model", "observed", "state"),
      ...KUBE("time", "rest", "kubeconfig", "leaderelection", "events", "connections/tls-faults"),
      "text/intern",
      "text/names",
    ],
    packages: NODE,
  },

  "inspect/kubectl": {
    from: [
      "run/program-context",
      ...RULES("settings", "annotations", "model/kinds"),
      ...KUBE("time", "rest", "kubeconfig"),
      "text",
    ],
    packages: [...NODE, "js-yaml", "yargs"],
  },
  "inspect/files": {
    from: [...RULES("settings"), "kube/json", "kube/kubeconfig/kubectl-yaml", "text"],
    packages: [...NODE, "js-yaml"],
  },
  "inspect/requests": {
    from: [...RULES("model"), ...KUBE("json", "rest", "cache/list"), "text/names"],
    packages: [CLIENT_NODE],
  },
  "inspect/cluster": {
    from: [
      // What an API server refuses, for objects of files.
      "sandbox/kinds/metadata-validation",
      "sandbox/kinds/secrets",
      "sandbox/storage/object",
      "run/program-context",
      "inspect/kubectl",
      "inspect/files",
      "inspect/requests",
      ...RULES("settings", "annotations", "model", "desired", "observed", "state", "plan"),
      ...KUBE("json", "time", "rest", "cache"),
      "text",
    ],
    packages: [...NODE, "yargs"],
  },

  "cli/explanation": {
    from: [
      ...RULES("annotations", "model", "desired"),
      "inspect/cluster/decisions",
      "inspect/cluster/reader-rights",
      "text",
    ],
    packages: [],
  },
  "cli/plan": {
    from: [
      "run/program-context",
      "inspect/kubectl",
      "inspect/cluster",
      "inspect/files",
      ...RULES("settings", "annotations", "model", "desired"),
      "text",
    ],
    packages: NODE,
  },
  "cli/holding": {
    from: ["cli/explanation/answer", ...RULES("model"), "text"],
    packages: [CLIENT_NODE],
  },
  "cli/rotation": {
    from: [
      "run/program-context",
      "inspect/kubectl",
      "inspect/cluster",
      "inspect/requests",
      "cli/explain/live-rows",
      "cli/explanation/explain",
      "cli/explanation/explain-object",
      "cli/holding",
      "cli/status/controller-page",
      ...RULES("settings", "annotations", "model", "observed/value-time"),
      ...KUBE("rest"),
      "text",
    ],
    packages: NODE,
  },
  "cli/explain": {
    from: [
      "run/program-context",
      "inspect/kubectl",
      "inspect/cluster",
      "inspect/requests",
      "cli/explanation",
      "cli/status/controller-page",
      "page/status",
      ...RULES("settings", "annotations/vocabulary", "model", "observed/value-time"),
      ...KUBE("rest", "cache/list"),
      "text",
    ],
    packages: NODE,
  },
  "cli/status": {
    from: [
      "run/program-context",
      "inspect/kubectl",
      "inspect/cluster",
      "inspect/requests",
      "page",
      ...RULES("settings", "model"),
      ...KUBE("json", "time", "rest", "portforward"),
      "text",
    ],
    packages: NODE,
  },
  "cli/rights": {
    from: [
      "run/program-context",
      "inspect/kubectl",
      "inspect/cluster/planning-settings",
      ...RULES("settings", "model"),
      ...KUBE("rest/resource"),
      "text",
    ],
    packages: [...NODE, CLIENT_NODE, "yaml"],
  },
  "cli/inventory": {
    from: [
      "run/program-context",
      "inspect/kubectl",
      "inspect/cluster",
      "inspect/requests",
      ...RULES("settings", "model", "observed/value-time"),
      ...KUBE("json", "rest"),
      "text",
    ],
    packages: NODE,
  },
  "cli/check": {
    from: [
      "run/program-context",
      "cli/rights/needed-rights",
      "inspect/kubectl",
      "inspect/cluster",
      "inspect/requests",
      ...RULES("settings", "annotations/name-scope", "annotations/replicators", "model"),
      ...KUBE("rest"),
      "text",
    ],
    packages: NODE,
  },
  "cli/completion": {
    from: [
      "run/program-context",
      "inspect/kubectl",
      "inspect/requests",
      ...RULES("settings", "model/kinds"),
      ...KUBE("rest", "kubeconfig"),
    ],
    packages: NODE,
  },
  "cli/sandbox": {
    from: [
      "sandbox",
      "run",
      ...RULES("settings", "sync", "writes", "report", "model"),
      ...KUBE("json", "time", "rest", "kubeconfig"),
      "text",
    ],
    packages: [...NODE, "js-yaml"],
  },
  cli: {
    from: [
      "run",
      "migrate/command",
      "inspect/kubectl",
      ...[
        "plan",
        "status",
        "explain",
        "check",
        "rights",
        "rotation",
        "inventory",
        "completion",
        "sandbox",
      ].map((command) => `cli/${command}`),
      "controller/settings",
    ],
    packages: [...NODE, "yargs"],
  },

  "migrate/oldtools/patterns": { from: ["text"], packages: [] },
  "migrate/oldtools": {
    from: [
      "migrate/oldtools/patterns",
      // Each tool with a folder has one file for the table of tools.
      "migrate/oldtools/external/external-secrets",
      "migrate/oldtools/kyverno/kyverno",
      "migrate/oldtools/projection/projection",
      ...RULES("annotations/replicators", "model"),
      "text",
    ],
    packages: [],
  },
  "migrate/oldtools/external": {
    from: ["migrate/oldtools", ...RULES("model"), "text"],
    packages: [],
  },
  "migrate/oldtools/kyverno": {
    from: ["migrate/oldtools", "migrate/oldtools/patterns", ...RULES("model"), "text"],
    packages: [],
  },
  "migrate/oldtools/projection": {
    from: ["migrate/oldtools", ...RULES("model"), "text"],
    packages: [],
  },
  "migrate/moves": {
    from: [
      "migrate/oldtools",
      "migrate/oldtools/patterns",
      ...RULES("annotations", "model", "desired", "observed", "writes/object-requests"),
      "kube/json-patch",
      "text",
    ],
    packages: [],
  },
  "migrate/command/manifests": {
    from: [
      "migrate/oldtools",
      "migrate/moves",
      "migrate/command",
      "run/program-context",
      "inspect/kubectl",
      "inspect/cluster",
      "inspect/files",
      ...RULES("settings", "annotations", "model/kinds"),
      "kube/rest/resource",
      "text",
    ],
    packages: [...NODE, "yaml"],
  },
  "migrate/command": {
    from: [
      "migrate/oldtools",
      "migrate/oldtools/patterns",
      "migrate/moves",
      "migrate/command/manifests",
      "inspect/requests/access-review",
      "run/program-context",
      "inspect/kubectl",
      "inspect/cluster",
      "inspect/files",
      ...RULES("settings", "annotations", "model"),
      ...KUBE("time", "rest", "cache"),
      "text",
    ],
    packages: [...NODE, "re2js"],
  },

  "sandbox/storage": { from: [], packages: NODE },
  "sandbox/kinds": { from: ["sandbox/storage"], packages: NODE },
  "sandbox/http": { from: ["sandbox/storage", "sandbox/kinds"], packages: [...NODE, "js-yaml"] },
  "sandbox/verbs": {
    from: ["sandbox/storage", "sandbox/kinds", "sandbox/http"],
    packages: NODE,
  },
  sandbox: {
    from: ["sandbox/storage", "sandbox/kinds", "sandbox/http", "sandbox/verbs"],
    packages: NODE,
  },
  "sandbox/library": { from: ["sandbox", "sandbox/storage"], packages: [...NODE, "js-yaml"] },

  // main.ts
  "": { from: ["cli", "run", "kube/rest", "kube/library/termination"], packages: NODE },
};

/** Where a room of `WALLS`, or a file in one, is: the packages are beside src. */
export function folderOf(room: string): string {
  return `${/^(?:kube|sandbox)(?:\/|$)/.test(room) ? "packages" : "src"}/${room}`;
}

/** A name is a folder of `WALLS`, or one file in one. */
function patternOf(room: string, from: string): string {
  const path = relative(`/${folderOf(room)}`, `/${folderOf(from)}`);
  const file = from in WALLS ? `${path}/*.ts` : `${path}.ts`;
  return `!${file.startsWith(".") ? file : `./${file}`}`;
}

function wallOf([room, { from, packages }]: readonly [string, Wall]) {
  const may = [...from, ...packages].join(", ") || "nothing else";
  const group = [
    "**",
    "!./*.ts",
    ...from.map((name) => patternOf(room, name)),
    ...packages.map((name) => `!${name}`),
  ];
  return {
    files: [join(folderOf(room), "*.ts")],
    rules: {
      "no-restricted-imports": [
        "error",
        { patterns: [{ group, message: `${folderOf(room)} imports ${may}` }] },
      ],
    },
  };
}

export default {
  plugins: ["typescript", "import", "unicorn", "oxc", "node", "promise"],
  categories: { correctness: "error", suspicious: "error" },
  rules: {
    "typescript/no-floating-promises": [
      "error",
      {
        allowForKnownSafeCalls: [
          { from: "package", name: ["test", "it", "describe", "suite"], package: "node:test" },
        ],
      },
    ],
    "typescript/no-misused-promises": "error",
    "typescript/switch-exhaustiveness-check": "error",
    "typescript/no-explicit-any": "error",
    "typescript/no-non-null-assertion": "error",
    "import/no-cycle": ["error", { ignoreTypes: false }],
    "import/no-default-export": "error",
    "no-console": "error",
    "typescript/no-unsafe-type-assertion": "off",
    "unicorn/consistent-function-scoping": "off",
    "no-underscore-dangle": "off",
    "typescript/consistent-return": "off",
    "promise/always-return": "off",
    "no-shadow": "off",
    "import/no-unassigned-import": "off",
  },
  overrides: [
    {
      files: PURE.map((room) => `src/${room}/*.ts`),
      rules: {
        "no-restricted-globals": [
          "error",
          "Date",
          "process",
          "setTimeout",
          "setInterval",
          "setImmediate",
          "performance",
          "fetch",
        ],
        "no-restricted-properties": ["error", { object: "Math", property: "random" }],
      },
    },
    ...Object.entries(WALLS).map(wallOf),
    {
      files: ["packages/**/*.test.ts", "packages/*/testing/**/*.ts"],
      rules: {
        "no-restricted-imports": [
          "error",
          {
            patterns: [
              {
                group: ["src", "test", "bench", "tools"].map((folder) => `**/${folder}/**`),
                message: "a package and its tests import nothing of the product",
              },
            ],
          },
        ],
      },
    },
    {
      files: ["examples/*.ts"],
      rules: {
        "no-console": "off",
        "no-restricted-imports": [
          "error",
          {
            patterns: [
              {
                group: ["**", "!secretcast/kube", ...NODE.map((name) => `!${name}`)],
                message:
                  "an example imports secretcast/kube and node:*, as the program of a user does",
              },
            ],
          },
        ],
      },
    },
    {
      files: ["model", "namespaces", "patterns", "raw", "standing"].map(
        (name) => `test/campaign/model/${name}.ts`,
      ),
      rules: {
        "no-restricted-imports": [
          "error",
          {
            patterns: [
              {
                group: [
                  "**",
                  ...["namespaces", "patterns", "raw", "standing"].map((name) => `!./${name}.ts`),
                ],
                message:
                  "the reference model is written from the contract alone: it imports nothing of the program",
              },
            ],
          },
        ],
      },
    },
  ],
};
