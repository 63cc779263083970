// Leaves out of the bundle what nobody imports from packages that export everything from one module. Each import
// of such a package resolves to the requested names only, and each name is loaded at its first use. A name that
// is not in the table fails the build: look it up in the package's index, and add it.
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

/**
 * The only texts of packages that are changed. With these, a start until the first request takes 104 ms of CPU
 * time and 70.3 MiB (medians of 14 starts in turn).
 */
const PATCHES = [
  // yargs renders the help of the command that runs, for a handler that fails. Our handlers only say what was
  // chosen. It costs 20 ms of CPU time and 3.6 MiB.
  {
    file: "/node_modules/yargs/build/lib/command.js",
    from: "yargs.getInternalMethods().getUsageInstance().cacheHelpMessage();",
    to: "",
  },
  // undici loads node:http2, which no connection of ours may speak. It costs 1.0 MiB.
  {
    file: "/node_modules/undici/lib/dispatcher/client.js",
    from: "const connectH2 = require('./client-h2.js')",
    to: "const connectH2 = (...given) => require('./client-h2.js')(...given)",
  },
] as const;

const require = createRequire(import.meta.url);
const ROOT = join(import.meta.dirname, "../..");
const MARK = "\0narrow:";

export function narrowPackages(): Plugin {
  const unused = new Set<(typeof PATCHES)[number]>(PATCHES);
  return {
    name: "narrow-packages",
    resolveId(source, importer) {
      if (importer === undefined) return;
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
      const patch = PATCHES.find(({ file }) => id.endsWith(file));
      if (!patch || !code.includes(patch.from)) return;
      unused.delete(patch);
      return { code: code.replace(patch.from, patch.to), map: null };
    },
    buildEnd(error) {
      if (error !== undefined) return;
      for (const { file, from } of unused)
        throw new Error(
          `${file} no longer has "${from}": remove the patch from tools/bundle/narrow-packages.ts`,
        );
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
