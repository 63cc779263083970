// Links of a built site, each followed to the file and to the heading that it names. Links to elsewhere
// are not: whether others answer is no property of this site.
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join, relative } from "node:path";

/** Each as "PAGE: HREF". */
export function deadLinks(site: string): readonly string[] {
  const pages = readdirSync(site, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".html"))
    .toSorted();
  const anchors = new Map(pages.map((page) => [join(site, page), anchorsOf(join(site, page))]));
  return pages.flatMap((page) =>
    hrefsOf(join(site, page)).flatMap((href) =>
      leadsSomewhere(site, join(site, page), href, anchors) ? [] : [`${page}: ${href}`],
    ),
  );
}

function leadsSomewhere(
  site: string,
  page: string,
  href: string,
  anchors: ReadonlyMap<string, ReadonlySet<string>>,
): boolean {
  if (/^([a-z]+:|\/\/)/.test(href)) return true;
  const [path = "", anchor = ""] = href.split("#").map((part) => decodeURIComponent(part));
  const base = path.startsWith("/") ? site : dirname(page);
  let target = path === "" ? page : join(base, path);
  if (relative(site, target).startsWith("..") || !existsSync(target)) return false;
  if (statSync(target).isDirectory()) target = join(target, "index.html");
  if (!existsSync(target)) return false;
  return anchor === "" || (anchors.get(target)?.has(anchor) ?? false);
}

function hrefsOf(page: string): readonly string[] {
  const text = readFileSync(page, "utf8");
  const found = text.matchAll(/<(?:a|link|img|script)\b[^>]*?\s(?:href|src)="([^"]*)"/g);
  return [...new Set(Array.from(found, ([, href = ""]) => href.replaceAll("&amp;", "&")))];
}

function anchorsOf(page: string): ReadonlySet<string> {
  const found = readFileSync(page, "utf8").matchAll(/\sid="([^"]*)"/g);
  return new Set(Array.from(found, ([, id = ""]) => id));
}
