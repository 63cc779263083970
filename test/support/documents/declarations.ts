// The declarations that `tsc` writes of what others may import, read as text: one entry an exported name.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { spawnSync } from "node:child_process";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

const ROOT = join(import.meta.dirname, "../../..");

export type Declaration = {
  readonly name: string;
  /** Of the comment above it; undefined without one. */
  readonly comment: string | undefined;
  /** As written, comments included. */
  readonly text: string;
  /** Without comments, spaces evened out. */
  readonly signature: string;
  /** Names that its file imports and it speaks of. */
  readonly speaksOf: readonly string[];
};

export type Library = {
  /** What the entry exports, by name. */
  readonly declarations: ReadonlyMap<string, Declaration>;
  /** Packages that a reader of the declarations needs. */
  readonly packages: readonly string[];
};

/** Of `secretcast/kube` or `secretcast/sandbox`. */
export function libraryDeclarations(of: "kube" | "sandbox"): Library {
  const folder = mkdtempSync(join(tmpdir(), "secretcast-declarations-"));
  try {
    const compiler = join(ROOT, "node_modules/typescript/bin/tsc");
    const words = ["--project", "tsconfig.kube.json", "--outDir", folder];
    const { status, stdout } = spawnSync(process.execPath, [compiler, ...words], {
      cwd: ROOT,
      encoding: "utf8",
    });
    if (status !== 0) throw new Error(stdout);
    const entry = join(folder, of, "library/index.d.ts");
    return { declarations: readEntry(entry), packages: packagesOf(entry) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function packagesOf(entry: string): readonly string[] {
  const files = [entry];
  const packages = new Set<string>();
  for (const file of files) {
    for (const [, from = ""] of readFileSync(file, "utf8").matchAll(/ from "([^"]+)"/g)) {
      const path = join(dirname(file), from.replace(/\.ts$/, ".d.ts"));
      if (!from.startsWith(".")) packages.add(from);
      else if (!files.includes(path)) files.push(path);
    }
  }
  return [...packages];
}

function readEntry(entry: string): ReadonlyMap<string, Declaration> {
  const found = new Map<string, Declaration>();
  const lists = readFileSync(entry, "utf8").matchAll(
    /^export (?:type )?\{([^}]*)\} from "([^"]+)\.ts";/gm,
  );
  for (const [, names = "", from = ""] of lists) {
    const file = readFileSync(join(dirname(entry), `${from}.d.ts`), "utf8");
    for (const name of names.split(",").map((each) => each.trim()))
      if (name !== "") {
        const [inFile = "", outside = inFile] = name.split(" as ");
        found.set(outside, declarationOf(file, inFile, outside));
      }
  }
  return found;
}

function declarationOf(file: string, inFile: string, name: string): Declaration {
  const begins = new RegExp(
    String.raw`^export (?:declare )?(?:abstract )?(?:class|function|type|const) ${inFile}\b`,
    "m",
  );
  const at = begins.exec(file)?.index;
  if (at === undefined) throw new Error(`no declaration of ${name}`);
  const rest = file.slice(at);
  // The next statement, or the comment above it.
  const next = /\n(?:\/\*\*(?:(?!\*\/)[\s\S])*\*\/\n)?(?:export|declare|type|import)\b/.exec(rest);
  const text = (next ? rest.slice(0, next.index) : rest).replace(inFile, name);
  const [, comment] = /\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\n$/.exec(file.slice(0, at)) ?? [];
  const signature = text
    .replace(/\/\*\*[\s\S]*?\*\//g, "")
    .replace(/\n\s*\n+/g, "\n")
    .trimEnd();
  const imported = [...file.matchAll(/^import (?:type )?\{([^}]*)\}/gm)].flatMap(([, names = ""]) =>
    names.split(",").map((each) => each.replace(/^\s*type /, "").trim()),
  );
  const local = [...file.matchAll(/^(?:export )?(?:declare )?(?:type|class) (\w+)/gm)].map(
    ([, each = ""]) => each,
  );
  const speaksOf = [...imported, ...local].filter(
    (each) => each !== name && new RegExp(String.raw`\b${each}\b`).test(signature),
  );
  return { name, comment, text, signature, speaksOf };
}
