// What the bundle leaves out of packages that give everything through one door. Each import of such a
// package is answered with the names that it asks for and no others, and each name is loaded when it is
// first used. A name that is not in the table fails the build: then it is looked up in the package's
// index, and added.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, relative } from "node:path";
import type { Plugin } from "rolldown";

// undici's index gives every dispatcher its methods: request, and the CONNECT of a proxy.
const METHODS = `Object.assign(require("undici/lib/dispatcher/dispatcher.js").prototype, require("undici/lib/api/index.js"))`;
const UNDICI: Readonly<Record<string, string>> = {
  Agent: `(${METHODS}, require("undici/lib/dispatcher/agent.js"))`,
  ProxyAgent: `(${METHODS}, require("undici/lib/dispatcher/proxy-agent.js"))`,
  fetch: `require("undici/lib/web/fetch/index.js").fetch`,
  WebSocket: `require("undici/lib/web/websocket/websocket.js").WebSocket`,
};

const PROM_CLIENT: Readonly<Record<string, string>> = {
  Counter: `require("prom-client/lib/counter.js")`,
  Gauge: `require("prom-client/lib/gauge.js")`,
  Histogram: `require("prom-client/lib/histogram.js")`,
  Registry: `require("prom-client/lib/registry.js")`,
  collectDefaultMetrics: `require("prom-client/lib/defaultMetrics.js")`,
};

const NARROWED: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  undici: UNDICI,
  "prom-client": PROM_CLIENT,
};

// Node's own `assert` brings 27 modules with it, readline and fs/promises among them, for messages that
// show a difference. yargs fails one at each start, and goes on. What asserts otherwise than so fails the build.
const ASSERT = `
const fail = (message, what) => {
  if (message instanceof Error) throw message;
  const error = new Error(message ?? what);
  throw Object.assign(error, { name: "AssertionError", code: "ERR_ASSERTION" });
};
const assert = (value, message) => { if (!value) fail(message, "what was asserted does not hold"); };
assert.strictEqual = (a, b, message) => { if (!Object.is(a, b)) fail(message, "the values differ"); };
assert.notStrictEqual = (a, b, message) => { if (Object.is(a, b)) fail(message, "the values are the same"); };
module.exports = assert;
`;
const IMPORTS_ASSERT = /['"](node:)?assert['"]/;
const ASSERTS = /\bassert\w*\.(?!strictEqual\b|notStrictEqual\b)\w+\(/;

/** Parts of packages that are loaded, or done, at their first use in place of their package's start. */
const LATE: readonly { readonly file: string; readonly from: string; readonly to: string }[] = [
  // HTTP/2, which no connection of ours may speak, brings all of node:http2 with it.
  {
    file: "/undici/lib/dispatcher/client.js",
    from: "const connectH2 = require('./client-h2.js')",
    to: "const connectH2 = (...given) => require('./client-h2.js')(...given)",
  },
  // Threads that write logs: ours go to standard output.
  {
    file: "/pino/lib/tools.js",
    from: "const transport = require('./transport')",
    to: "const transport = (...given) => require('./transport')(...given)",
  },
  {
    file: "/pino/pino.js",
    from: "module.exports.transport = require('./lib/transport')",
    to: "module.exports.transport = (...given) => require('./lib/transport')(...given)",
  },
  // The help of the command that runs, kept for a handler that fails: ours only say what was chosen.
  {
    file: "/yargs/build/lib/command.js",
    from: "yargs.getInternalMethods().getUsageInstance().cacheHelpMessage();",
    to: "",
  },
];

const require = createRequire(import.meta.url);
const ROOT = join(import.meta.dirname, "../..");
const MARK = "\0narrow:";
const LAZY_ASSERT = "\0lazy-assert.cjs";

export function narrowPackages(): Plugin {
  const late = new Set(LATE);
  return {
    name: "narrow-packages",
    resolveId(source, importer) {
      if (importer === undefined) return;
      if (/^(node:)?assert$/.test(source)) return LAZY_ASSERT;
      if (source in NARROWED && !importer.startsWith(MARK))
        // Names of modules are in the bundle: wherever it is made, it is the same.
        return `${MARK}${source}:${relative(ROOT, importer)}.cjs`;
      // All of client-node but its KubeConfig is for callers that we are not.
      if (source === "@kubernetes/client-node")
        return require.resolve("@kubernetes/client-node").replace(/index\.(c?js)$/, "config.js");
      if (importer.startsWith(MARK)) return require.resolve(source);
      return;
    },
    load(id) {
      if (id === LAZY_ASSERT) return ASSERT;
      if (!id.startsWith(MARK)) return;
      const [name = "", importer = ""] = id.slice(MARK.length, -".cjs".length).split(":");
      const table = NARROWED[name] ?? {};
      return namesFrom(readFileSync(join(ROOT, importer), "utf8"), name)
        .map((each) => {
          const found = Object.hasOwn(table, each) ? table[each] : undefined;
          if (found === undefined)
            throw new Error(
              `${importer} imports ${each} of ${name}: add it to tools/bundle/narrow-packages.ts`,
            );
          return `Object.defineProperty(exports, "${each}", { enumerable: true, get: () => ${found} });`;
        })
        .join("\n");
    },
    transform(code, id) {
      const [other] =
        /node_modules/.test(id) && IMPORTS_ASSERT.test(code) ? (ASSERTS.exec(code) ?? []) : [];
      if (other !== undefined)
        throw new Error(
          `${id} calls ${other}…): add it to ASSERT of tools/bundle/narrow-packages.ts`,
        );
      const change = LATE.find(({ file }) => id.endsWith(`/node_modules${file}`));
      if (change === undefined) return;
      if (!code.includes(change.from))
        throw new Error(
          `${id} has no longer "${change.from}": see tools/bundle/narrow-packages.ts`,
        );
      late.delete(change);
      return { code: code.replace(change.from, change.to), map: null };
    },
    buildEnd(error) {
      if (error !== undefined) return;
      for (const { file } of late)
        throw new Error(`nothing imports ${file} any longer: see tools/bundle/narrow-packages.ts`);
    },
  };
}

/** What `import { a, b as c } from "NAME"` and `const x = await import("NAME")` take; other forms there are none of. */
function namesFrom(code: string, name: string): readonly string[] {
  const form = new RegExp(`^import\\s*\\{([^}]*)\\}\\s*from\\s*['"]${name}['"]`, "gm");
  const listed = Array.from(code.matchAll(form), ([, what = ""]) => what)
    .flatMap((what) => what.split(","))
    .map((word) => word.trim().split(/\s+as\s+/)[0] ?? "")
    .filter((word) => word !== "" && !word.startsWith("type "));
  const late = new RegExp(`const (\\w+) = await import\\(['"]${name}['"]\\)`).exec(code)?.[1];
  const used =
    late === undefined
      ? []
      : Array.from(code.matchAll(new RegExp(`\\b${late}\\.(\\w+)`, "g")), ([, word = ""]) => word);
  const names = [...new Set([...listed, ...used])];
  if (names.length === 0) throw new Error(`no import of ${name} was understood`);
  return names;
}
