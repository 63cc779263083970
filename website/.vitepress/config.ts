// The documentation as a site, with a search that runs in the reader's browser and asks nobody. Its
// pages are made by tools/site.ts out of the Markdown of this repository; nothing is fetched from elsewhere.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { defineConfig, type DefaultTheme } from "vitepress";

const PAGES = join(import.meta.dirname, "../pages");

const page = (text: string, link: string): DefaultTheme.SidebarItem => ({ text, link });
const decisions = readdirSync(join(PAGES, "decisions"))
  .toSorted()
  .map((file) => {
    const name = file.replace(/\.md$/, "");
    return page(name.slice(4).replaceAll("-", " "), `/decisions/${name}`);
  });
const measurements = [
  page("Performance", "/measurements/performance"),
  page("Reliability", "/measurements/reliability"),
  page("Scale", "/measurements/scale"),
];

const ORDERED: DefaultTheme.SidebarItem[] = [
  {
    text: "Use it",
    items: [
      page("Secretcast", "/"),
      page("Publish, accept, pull", "/use"),
      page("Recipes", "/recipes"),
      page("A gate for pull requests", "/gate"),
      page("The command line", "/cli"),
      page("When you do not need a copy", "/alternatives"),
    ],
  },
  { text: "Reference", items: [page("Reference", "/reference")] },
  {
    text: "Run it",
    items: [
      page("Operating", "/operations"),
      page("Rotation and inventory", "/rotation"),
      page("Versions", "/versions"),
      page("Performance", "/performance"),
      page("Reliability", "/reliability"),
      page("Ten thousand namespaces", "/scale"),
      page("Changelog", "/changelog"),
    ],
  },
  {
    text: "Review it",
    items: [page("Security review", "/hardening"), page("Reporting a weakness", "/security")],
  },
  {
    text: "Move to it",
    items: [
      page("Moving from another tool", "/migrating"),
      page("Moving from Kyverno", "/migrating-kyverno"),
      page("Moving from projection", "/migrating-projection"),
      page("Moving from External Secrets", "/migrating-external-secrets"),
    ],
  },
  {
    text: "Change it",
    items: [
      page("Contributing", "/contributing"),
      page("Architecture", "/architecture"),
      page("The tests", "/tests"),
      page("Controllers on secretcast/kube", "/kube"),
      page("A sandbox for tests", "/sandbox"),
      page("Releasing", "/release"),
      page("What the owner fills in", "/owner"),
      { text: "Decisions", collapsed: true, items: decisions },
      { text: "Measurements", collapsed: true, items: measurements },
    ],
  },
];

/** Pages that nobody has put in order yet: a page that is not in the list would never be found. */
const named = new Set(ORDERED.flatMap(({ items = [] }) => items.map(({ link }) => link)));
const others = readdirSync(PAGES)
  .filter((file) => file.endsWith(".md") && file !== "index.md")
  .map((file) => ({ file, link: `/${file.replace(/\.md$/, "")}` }))
  .filter(({ link }) => !named.has(link))
  .map(({ file, link }) => {
    const [, title = link] = /^# (.+)$/m.exec(readFileSync(join(PAGES, file), "utf8")) ?? [];
    return page(title, link);
  });
const sidebar = others.length > 0 ? [...ORDERED, { text: "More", items: others }] : ORDERED;

export default defineConfig({
  title: "secretcast",
  description: "Write a Secret once, have it in every Kubernetes namespace that should have it.",
  lang: "en",
  head: [["link", { rel: "icon", type: "image/svg+xml", href: "/icon.svg" }]],
  srcDir: "pages",
  // A page on the reader's own machine, which the documentation names, is no dead link.
  ignoreDeadLinks: "localhostLinks",
  srcExclude: ["public/**"],
  // As GitHub names headings, so that one link is right in both places.
  markdown: {
    anchor: {
      slugify: (heading) =>
        heading
          .toLowerCase()
          .replaceAll(/[^\p{L}\p{N}_\- ]/gu, "")
          .replaceAll(" ", "-"),
    },
  },
  themeConfig: {
    sidebar,
    outline: [2, 3],
    search: { provider: "local" },
  },
});
