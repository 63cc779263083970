// The Markdown of a repository as the pages of a site: README is the first page, docs/ lies at the top,
// and what pages link to that is no page goes along as a file.
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, posix } from "node:path";

/** Pages that do not lie in docs/, by where they are on the site. */
const MOVED: Readonly<Record<string, string>> = {
  "README.md": "index.md",
  "CONTRIBUTING.md": "contributing.md",
  "CHANGELOG.md": "changelog.md",
  "SECURITY.md": "security.md",
  "CODE_OF_CONDUCT.md": "conduct.md",
  "test/README.md": "tests.md",
};

/** Makes the folder anew. Throws when a page links to what is not in the repository. */
export function layOutPages(root: string, folder: string): void {
  rmSync(folder, { recursive: true, force: true });
  const files = new Set<string>();
  const pages = pagesOf(root);
  for (const page of pages) {
    const text = withLinks(readFileSync(join(root, page), "utf8"), (href) => {
      const [path = "", anchor] = href.split("#");
      if (path === "" || /^[a-z]+:/.test(path)) return href;
      const target = posix.normalize(posix.join(posix.dirname(page), path)).replace(/\/$/, "");
      if (target.startsWith("..") || !existsSync(join(root, target)))
        throw new Error(`${page} links to ${href}, which is not there`);
      if (pages.includes(target))
        return `/${onSite(target)}${anchor === undefined ? "" : `#${anchor}`}`;
      const [first = "", ...others] = statSync(join(root, target)).isDirectory()
        ? readdirSync(join(root, target)).toSorted()
        : [];
      if ([first, ...others].every((name) => name.endsWith(".md")))
        return `/${onSite(`${target}/${first}`)}`;
      files.add(target);
      return `/files/${first === "" ? published(target) : `${target}/index.html`}`;
    });
    write(join(folder, onSite(page)), text);
  }
  for (const file of files) publish(root, file, join(folder, "public/files", file));
}

function pagesOf(root: string): readonly string[] {
  const documents = readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".md"))
    .map((file) => `docs/${file}`);
  return [...Object.keys(MOVED).filter((file) => existsSync(join(root, file))), ...documents];
}

function onSite(page: string): string {
  return MOVED[page] ?? page.replace(/^docs\//, "");
}

/** What stands in a block of code is no link. */
function withLinks(text: string, turn: (href: string) => string): string {
  return text
    .split(/^(```.*?^```)$/ms)
    .map((part) =>
      part.startsWith("```")
        ? part
        : part.replaceAll(/\]\(([^()\s]+)\)/g, (_whole, href: string) => `](${turn(href)})`),
    )
    .join("");
}

/** A browser shows text, would save YAML as a file, and shows no SVG that is served as text. */
function published(file: string): string {
  return /\.(?:png|svg)$/.test(file) ? file : `${file}.txt`;
}

/** A folder gets a list of what is in it, and so does each folder within. */
function publish(root: string, path: string, to: string): void {
  const from = join(root, path);
  mkdirSync(dirname(to), { recursive: true });
  if (!statSync(from).isDirectory()) return cpSync(from, published(to));
  cpSync(from, to, { recursive: true });
  listFolder(path, from, to);
}

function listFolder(path: string, from: string, to: string): void {
  const entries = readdirSync(from, { withFileTypes: true });
  const lines = entries.map((entry) => {
    const href = entry.isDirectory() ? `${entry.name}/index.html` : entry.name;
    return `<li><a href="${href}">${entry.name}</a></li>`;
  });
  write(
    join(to, "index.html"),
    `<!doctype html><meta charset="utf-8"><title>${path}</title><h1>${path}</h1><ul>${lines.join("")}</ul>\n`,
  );
  for (const { name } of entries.filter((entry) => entry.isDirectory()))
    listFolder(`${path}/${name}`, join(from, name), join(to, name));
}

function write(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}
