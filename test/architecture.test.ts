// The map of the code is true: every folder is on it, and exported names mean one thing each.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join, matchesGlob } from "node:path";
import { test } from "node:test";
import { folderOf, WALLS } from "../oxlint.config.ts";

const ROOT = join(import.meta.dirname, "..");

function filesOf(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(folder.length + 1))
    .toSorted();
}

/** Every file of src, and of the packages by `kube/` and `sandbox/`, without their tests. */
function sources(): readonly string[] {
  const packaged = filesOf(join(ROOT, "packages")).filter(
    (file) => !/\/testing\/|\.test\.ts$|package\.json$/.test(file),
  );
  return [...filesOf(join(ROOT, "src")), ...packaged];
}

function textOf(file: string): string {
  return readFileSync(join(ROOT, folderOf(file)), "utf8");
}

/** The folders that an indented tree names, each by its path. */
function pathsOf(tree: string): readonly string[] {
  const folders: string[] = [];
  return tree
    .split("\n")
    .slice(1)
    .flatMap((line) => {
      const [, indent = "", name = ""] = /^( +)(\S+)\/(?: |$)/.exec(line) ?? [];
      if (name === "") return [];
      folders.length = indent.length / 2 - 1;
      folders.push(name);
      return [folders.join("/")];
    })
    .toSorted();
}

test("each folder of sources has a line in docs/architecture.md, or in the README of the folder above", () => {
  const page = readFileSync(join(ROOT, "docs/architecture.md"), "utf8");
  const [, tree = ""] = /^(src\/\n.*?)\n```/ms.exec(page) ?? [];
  const folders = new Set(
    sources().flatMap((file) => {
      const parts = file.split("/").slice(0, -1);
      return parts.map((_, index) => parts.slice(0, index + 1).join("/"));
    }),
  );
  const readmes = new Set(
    sources().flatMap((file) => (file.endsWith("/README.md") ? [dirname(file)] : [])),
  );
  const isBelow = (folder: string, above: string): boolean => folder.startsWith(`${above}/`);
  const onPage = [...folders].filter((folder) => ![...readmes].some((one) => isBelow(folder, one)));
  assert.deepEqual(pathsOf(tree), onPage.toSorted());
  const bare = tree.split("\n").filter((line) => /^ +\S+\/\s*$/.test(line));
  assert.deepEqual(bare, []);
  for (const folder of folders)
    if (readmes.has(dirname(folder)))
      assert.match(textOf(`${dirname(folder)}/README.md`), new RegExp(`\`${basename(folder)}/?\``));
});

test("a source file begins with what it promises", () => {
  const silent = sources().filter(
    (file) => file.endsWith(".ts") && !/^(?:#!.*\n)?\/[/*]/.test(textOf(file)),
  );
  assert.deepEqual(silent, []);
});

test("WALLS allows no import that no file uses, except of the modules of Node", () => {
  const unused = Object.entries(WALLS).flatMap(([room, { from, packages }]) => {
    const files = sources().filter((file) => dirname(file) === (room || "."));
    const used = files.flatMap((file) =>
      Array.from(textOf(file).matchAll(/(?:from |import\()"([^"]+)"/g), ([, name = ""]) =>
        pathOf(room, name),
      ),
    );
    return [...from.map((name) => (name in WALLS ? `${name}/*` : name)), ...packages]
      .filter(
        (allowed) =>
          !allowed.startsWith("node:*") && !used.some((name) => matchesGlob(name, allowed)),
      )
      .map((allowed) => `${room} → ${allowed}`);
  });
  assert.deepEqual(unused, []);
});

/** What is imported from a file of `room`, as WALLS names it. */
function pathOf(room: string, name: string): string {
  if (!name.startsWith(".")) return name;
  return join(room, name)
    .replace(/^\.\.\/packages\//, "")
    .replace(/\.ts$/, "");
}

test("every file in which docs/architecture.md lets a change begin is there", () => {
  const page = readFileSync(join(ROOT, "docs/architecture.md"), "utf8");
  const [, table = ""] = /^## Where a change begins$.*?```\n(.*?)^```$/ms.exec(page) ?? [];
  const named = Array.from(table.matchAll(/\w[-\w]*(?:\/[-\w]+)+/g), ([path]) => `${path}.ts`);
  assert.ok(named.length > 20);
  const files = sources();
  assert.deepEqual(
    named.filter((file) => !files.includes(file)),
    [],
  );
});

test("an exported name is exported once in src and the packages together", () => {
  const places = new Map<string, string[]>();
  for (const file of sources()) {
    if (!file.endsWith(".ts")) continue;
    const text = textOf(file);
    const exported = text.matchAll(
      /^export (?:async )?(?:function\*?|class|const|type|interface|abstract class) (\w+)/gm,
    );
    for (const [, name = ""] of exported) places.set(name, [...(places.get(name) ?? []), file]);
  }
  assert.ok(places.size > 300, "names are found");
  const twice = [...places].filter(([, files]) => new Set(files).size > 1);
  assert.deepEqual(twice, []);
});

test("files have kebab-case names, and none is called after nothing in particular", () => {
  const names = sources()
    .filter((file) => file.endsWith(".ts"))
    .map((file) => file.replace(/^.*\//, "").replace(/(\.d)?\.ts$/, ""));
  const odd = names.filter(
    (name) =>
      !/^[a-z0-9]+(-[a-z0-9]+)*$/.test(name) ||
      /^(utils?|common|helpers?|handlers?|managers?|types)$/.test(name),
  );
  assert.deepEqual(odd, []);
});

test("a comment names no file that is not there", () => {
  const names = new Set(sources().map((file) => file.replace(/^.*\//, "")));
  const missing = sources().flatMap((file) => {
    if (!/\.(ts|js)$/.test(file)) return [];
    const comments = textOf(file).match(/^\s*(?:\/\/|\/?\*).*$/gm) ?? [];
    return comments
      .flatMap((line) => line.match(/\b[\w-]+\.ts\b/g) ?? [])
      .filter((name) => !names.has(name))
      .map((name) => `${file}: ${name}`);
  });
  assert.deepEqual(missing, []);
});

test("the words of the shape are in the README, decision 001 and the code", () => {
  const words = ["doSync", "single sync key", /deep cop(y|ies)/, "by UID"];
  const pages = {
    "README.md": words,
    "docs/decisions/001-single-sync-key.md": words,
    "src/controller/sync/sync.ts": words.filter((word) => word !== "single sync key"),
    "src/controller/sync/controller.ts": ["single sync key", "doSync"],
  };
  for (const [page, wanted] of Object.entries(pages)) {
    const text = readFileSync(join(ROOT, page), "utf8");
    for (const word of wanted) assert.ok(text.search(word) >= 0, `${page}: ${String(word)}`);
  }
});

test("a map of texts has one name in the source", () => {
  const others = sources().filter(
    (file) =>
      file.endsWith(".ts") &&
      !/^(?:text\/string-map\.ts|kube\/|sandbox\/)/.test(file) &&
      /^type \w+ = Readonly<Record<string, string>>;$/m.test(textOf(file)),
  );
  assert.deepEqual(others, []);
});

test("the types of client-node cost a program nothing: one place loads the package", () => {
  const texts = sources().map((file) => [file, textOf(file)] as const);
  const using = texts.filter(([, text]) => text.includes('"@kubernetes/client-node"'));
  assert.ok(using.length >= 5);
  const loading = using.filter(([, text]) =>
    text.replaceAll(/^import type .*$/gm, "").includes('"@kubernetes/client-node"'),
  );
  assert.deepEqual(
    loading.map(([file]) => file),
    ["kube/kubeconfig/auth-provider.ts"],
  );
});

test("only one place writes how many more names there are", () => {
  const others = sources().filter(
    (file) => file.endsWith(".ts") && /and \$\{[^}]+\} more(?:`|\$)/.test(textOf(file)),
  );
  assert.deepEqual(others, [], "text/listed.ts writes it");
});
