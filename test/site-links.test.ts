// The site's links: of pages as they are laid out, and of the pages that were built.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { deadLinks } from "../tools/site-links.ts";
import { layOutPages } from "../tools/site-pages.ts";
import { folderOf } from "../packages/kube/testing/folder.ts";

test("a link to a missing page, heading or file is named with its page", (t) => {
  const site = folderOf(t, {
    "index.html": `<a href="/a.html#here">x</a><a class="y" href="a.html#gone">x</a><a href="b.html">x</a>
      <img src="/c.png"><a href="https://elsewhere.example/">x</a><a href="#top">x</a><a href="../out">x</a>`,
    "a.html": `<h1 id="here">a</h1><a href="/">x</a><a href="sub/">x</a>`,
    "sub/index.html": `<a href="../a.html">x</a><a href="/sub#none">x</a>`,
  });
  assert.deepEqual(deadLinks(site), [
    "index.html: a.html#gone",
    "index.html: b.html",
    "index.html: /c.png",
    "index.html: #top",
    "index.html: ../out",
    "sub/index.html: /sub#none",
  ]);
});

test("pages are laid out with links to where things are then, code as it is", (t) => {
  const code = "```sh\n[no](link.md)\n```\n";
  const root = folderOf(t, {
    "README.md": `[a](docs/a.md#part) [f](LICENSE) [d](docs/decisions) [m](manifests) ![i](docs/i.svg)\n\n${code}`,
    LICENSE: "text",
    "docs/i.svg": "<svg/>",
    "manifests/x.yaml": "a: 1\n",
    "docs/a.md": "[home](../README.md) [web](https://elsewhere.example/x.md) [here](#part)\n",
    "docs/decisions/001-first.md": "# First\n",
  });
  const pages = join(root, "pages");
  layOutPages(root, pages);
  assert.equal(
    readFileSync(join(pages, "index.md"), "utf8"),
    `[a](/a.md#part) [f](/files/LICENSE.txt) [d](/decisions/001-first.md) [m](/files/manifests/index.html) ![i](/files/docs/i.svg)\n\n${code}`,
  );
  assert.equal(
    readFileSync(join(pages, "a.md"), "utf8"),
    "[home](/index.md) [web](https://elsewhere.example/x.md) [here](#part)\n",
  );
  assert.ok(existsSync(join(pages, "public/files/manifests/x.yaml")));
  assert.ok(existsSync(join(pages, "public/files/LICENSE.txt")));
  assert.ok(existsSync(join(pages, "public/files/docs/i.svg")));
});

test("a page that links to what is not in the repository is not laid out", (t) => {
  const root = folderOf(t, { "README.md": "x", "docs/a.md": "[b](b.md)" });
  assert.throws(
    () => layOutPages(root, join(root, "pages")),
    /docs\/a\.md links to b\.md, which is not there/,
  );
});
