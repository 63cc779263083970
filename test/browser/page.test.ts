// The status page in a real browser. UPDATE_SCREENSHOTS=1 also writes the pictures of the documentation.
import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";
import { Chromium, noBrowser } from "../support/browser/browser.ts";
import { globs } from "../support/planner/planner-cluster.ts";
import { connected, largeStage, smallStage } from "../support/browser/status-stage.ts";

const PICTURES = fileURLToPath(new URL("../../docs/images/", import.meta.url));
const skip = noBrowser;

let browser: Chromium;
before(async () => {
  if (!skip) browser = await Chromium.start();
});
after(async () => {
  if (!skip) await browser.close();
});

async function picture(page: Page, name: string): Promise<void> {
  if (process.env["UPDATE_SCREENSHOTS"] !== "1") return;
  mkdirSync(PICTURES, { recursive: true });
  await page.screenshot({ path: `${PICTURES}${name}.png`, fullPage: name !== "status-large" });
}

const says = (page: Page, text: string | RegExp) =>
  page.locator("#summary").getByText(text).waitFor();
const groups = (page: Page) => page.getByRole("table", { name: /not current/ });
const flat = (text: string) => text.replaceAll(/\s+/g, " ").trim();

test(
  "the page shows what is not current with its reason, and everything has a name",
  { skip },
  async (t) => {
    const { page, complaints } = await browser.open((await smallStage(t)).url);
    await says(page, "9 of 11 places current, 1 conflict, 1 failed. 1 source refused.");
    const failing = groups(page).getByRole("row", { name: /shared\/smtp/ });
    assert.match(
      flat(await failing.innerText()),
      /^backoff shared\/smtp monitoring\/smtp .*403 Forb.* will be retried at \d{4}-\S+ \S+ UTC \((in \d+ s|now)\) before \d+ s ago \d+ s ago$/,
    );
    await page.getByText(/^Since before: it was so already at the first plan/).waitFor();
    await page.getByText("secretcast.io/to-selecter").waitFor();
    await page.getByText("namespace team-legacy").waitFor();
    const grid = page.getByRole("table", { name: /each source in each namespace/ });
    const line = await grid.getByRole("row", { name: /team-b/ }).innerText();
    assert.equal(flat(line), "team-b current conflict current");
    await picture(page, "status");
    // By the browser's own accessibility tree.
    for (const each of await page.locator("button:visible, input:visible").all())
      assert.match(await each.ariaSnapshot(), /^- (button|searchbox) "[\w/. -]+"/);
    for (const role of ["banner", "search", "main"] as const)
      assert.equal(await page.getByRole(role).count(), 1, role);
    for (const cell of await page.locator("td[data-state]").all())
      assert.match((await cell.textContent()) ?? "", /^[a-z]+$/);
    assert.deepEqual(complaints, []);
  },
);

test(
  "updates arrive live, what was opened stays open, and screen readers are told",
  { skip },
  async (t) => {
    const stage = await smallStage(t);
    const { page, complaints } = await browser.open(stage.url);
    const fine = page.getByText("1 source is current wherever wanted");
    await fine.waitFor();
    const inside = page.getByRole("button", { name: "shared/ca-bundle" }).first();
    assert.equal(await page.locator("#sources").getByText("shared/ca-bundle").isVisible(), false);
    await fine.click();
    await page.locator("#sources").getByText("shared/ca-bundle").waitFor();
    stage.cluster.delete("team-b/registry");
    stage.cluster.now += 60_000;
    stage.look();
    await says(page, "9 of 11 places current, 2 pending.");
    stage.settle();
    await says(page, "All 11 copies are current. 1 source refused.");
    await page.getByRole("status").getByText("All 11 copies are current").waitFor();
    assert.equal(await inside.isVisible(), true);
    await page.getByText("Nothing.").waitFor();
    assert.deepEqual(complaints, []);
  },
);

test(
  "filters work by keyboard, keep the focus, stand in the address and survive a reload",
  { skip },
  async (t) => {
    const { page, complaints } = await browser.open((await smallStage(t)).url);
    const smtp = groups(page).getByText("shared/smtp");
    const registry = groups(page).getByRole("button", { name: "shared/registry" });
    await smtp.waitFor();
    await page.getByRole("button", { name: /^conflict/ }).focus();
    await page.keyboard.press("Enter");
    await smtp.waitFor({ state: "detached" });
    assert.equal(await page.locator("button:focus").getAttribute("data-state"), "conflict");
    assert.equal(await page.locator("button:focus").getAttribute("aria-pressed"), "true");
    assert.equal(new URL(page.url()).search, "?state=conflict");
    await page.getByRole("button", { name: "Show all" }).click();
    await smtp.waitFor();
    await page.getByRole("searchbox", { name: "Namespace" }).fill("monitor");
    await registry.waitFor({ state: "detached" });
    await page.reload();
    await smtp.waitFor();
    const box = page.getByRole("searchbox", { name: "Namespace" });
    assert.deepEqual([await box.inputValue(), await registry.count()], ["monitor", 0]);
    assert.deepEqual(complaints, []);
  },
);

const COLOURS = "text quiet link current pending conflict failed refused held paused frozen".split(
  " ",
);
for (const look of ["light", "dark"] as const)
  test(
    `in the ${look} every colour of text stands out from what is behind it`,
    { skip },
    async (t) => {
      const { page, complaints } = await browser.open((await smallStage(t)).url, look);
      await groups(page).waitFor();
      const back = await luminance(page, "back");
      assert.equal(back < 0.1, look === "dark");
      for (const behind of [back, await luminance(page, "panel")])
        for (const name of COLOURS) {
          const [dark = 0, light = 0] = [await luminance(page, name), behind].toSorted(
            (a, b) => a - b,
          );
          // WCAG 2: AA for text of normal size.
          assert.ok((light + 0.05) / (dark + 0.05) >= 4.5, `--${name}`);
        }
      if (look === "dark") await picture(page, "status-dark");
      assert.deepEqual(complaints, []);
    },
  );

/** Relative luminance (WCAG 2) of one of the page's colours. */
async function luminance(page: Page, name: string): Promise<number> {
  const colour = await page.evaluate<string>(
    `getComputedStyle(document.documentElement).getPropertyValue("--${name}")`,
  );
  const [red = 0, green = 0, blue = 0] = Array.from(colour.matchAll(/[0-9a-f]{2}/g), ([part]) => {
    const value = Number.parseInt(part, 16) / 255;
    return value <= 0.040_45 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

test("at 5,000 namespaces the page is short, and a search finds the one", { skip }, async (t) => {
  const { page, complaints } = await browser.open((await largeStage(t, 5000)).url);
  await page.getByText(/^60 of 5,001 namespaces/).waitFor();
  assert.ok((await page.locator("*").count()) < 4000);
  await groups(page).getByText("100 places").waitFor();
  await picture(page, "status-large");
  // On a phone the tables scroll, the page does not.
  await page.setViewportSize({ width: 420, height: 860 });
  assert.equal(await page.evaluate("document.documentElement.scrollWidth"), 420);
  await page.getByRole("searchbox", { name: "Namespace" }).fill("tenant-4321");
  await page.getByText(/^1 of 1 namespace/).waitFor();
  await groups(page).getByText("tenant-4321/registry").waitFor();
  assert.deepEqual(complaints, []);
});

test("the page says in an outage since when it is and shows nothing green", { skip }, async (t) => {
  const stage = await smallStage(t);
  const { page, complaints } = await browser.open(stage.url);
  await page.getByText("live", { exact: true }).waitFor();
  const green = await shade(page, '#grid [data-state="current"]');
  const now = Date.now();
  const cut = (resource: string, aliveMs: number, nextTryMs?: number) => ({
    ...connected(resource, aliveMs),
    disconnectedMs: now - 65_000,
    nextTryMs,
  });
  stage.snapshot = {
    watches: [cut("secrets", now - 70_000, now + 600_000), cut("namespaces", now - 95 * 60_000)],
    outdated: { sinceMs: now - 65_000, asOfMs: now - 95 * 60_000 },
    serverAwayMs: now - 65_000,
  };
  stage.statusFeed.changed();
  await says(page, /^Out of date. As of \d\d:\d\d:\d\d: 9 of 11 places current, 1 conflict/);
  await page.getByText("out of date", { exact: true }).waitFor();
  const reported = page.getByRole("list", { name: "Problems of the controller" });
  const lines = await reported.getByRole("listitem").allInnerTexts();
  assert.match(lines[0] ?? "", /^What is shown is as of 2 h ago: .* not been followed for 6\d s/);
  assert.match(lines[1] ?? "", /^The API server has not answered for 6\d s/);
  assert.match(lines[2] ?? "", /^secrets: .* for 6\d s, next try in 10 min; last heard/);
  assert.match(lines[3] ?? "", /^namespaces: .* next try under way; last heard 2 h ago/);
  for (const where of ["#grid", "#states", "#sources"])
    assert.notEqual(await shade(page, `${where} [data-state="current"]`), green, where);
  assert.notEqual(await shade(page, "#connection"), green);
  await picture(page, "status-outage");
  stage.snapshot = {};
  stage.statusFeed.changed();
  await page.getByText("live", { exact: true }).waitFor();
  assert.equal(await shade(page, '#grid [data-state="current"]'), green);
  assert.equal(await reported.count(), 0);
  assert.deepEqual(complaints, []);
});

/** The colour of an element's sign. */
function shade(page: Page, selector: string): Promise<string> {
  const found = `document.querySelector(${JSON.stringify(selector)})`;
  return page.evaluate<string>(`getComputedStyle(${found}, "::before").color`);
}

test(
  "when the controller goes the page says so; a stand-by that comes names the leader",
  { skip },
  async (t) => {
    const stage = await smallStage(t);
    const { page } = await browser.open(stage.url);
    await page.getByText("live", { exact: true }).waitFor();
    await stage.stop();
    await page.getByText("connection lost, trying again").waitFor();
    stage.snapshot = { plan: undefined, leader: STAND_BY };
    await stage.restart();
    await page.getByText("secretcast-7d4f_2; this replica is on stand-by").waitFor();
    await says(page, "On stand-by");
  },
);

test(
  "the page shows what has no effect: the flag, counts by reason, and some names",
  { skip },
  async (t) => {
    const stage = await smallStage(t);
    const { page, complaints } = await browser.open(stage.url);
    const section = page.getByRole("region", { name: "Annotations without effect" });
    await section.getByText("1 × annotations of a namespace that cannot be understood").waitFor();
    const { cluster } = stage;
    cluster.settings = { ...cluster.settings, sourceNamespaces: globs("shared,platfrom") };
    for (let n = 0; n < 9; n++) cluster.secret(`team-a/mine-${n}`, { to: "*" });
    cluster.secret("shared/typo", { to: "taem-*" });
    stage.look();
    await section.getByText("--source-namespaces platfrom matches no namespace").waitFor();
    await section.getByText("9 × annotations of a source outside the source namespaces").waitFor();
    await section.getByText("some of them by name").click();
    await section.getByText(/team-a\/mine-8 secretcast\.io\/to has no effect here/).waitFor();
    const line = page.getByRole("row", { name: /shared\/typo/ });
    assert.match(flat(await line.innerText()), /no namespace takes a copy/);
    for (const place of await section.getByText(/^team-a/).all())
      assert.ok(await place.isVisible());
    assert.deepEqual(complaints, []);
  },
);

const STAND_BY = {
  state: "stand-by",
  holder: "secretcast-7d4f_2",
  command: "kubectl port-forward -n secretcast pod/secretcast-7d4f 8081",
} as const;

test(
  "the page of a stand-by says who leads, and nothing that it cannot know",
  { skip },
  async (t) => {
    const stage = await smallStage(t);
    stage.snapshot = { plan: undefined, convergedMs: undefined, leader: STAND_BY };
    const { page, complaints } = await browser.open(stage.url);
    await says(page, "On stand-by: another replica writes");
    const reported = page.getByRole("region", { name: "Stand-by" });
    await reported.getByText("secretcast-7d4f_2 leads").waitFor();
    assert.equal(await reported.locator("code").innerText(), STAND_BY.command);
    const shown = flat(await page.locator("body").innerText());
    assert.doesNotMatch(shown, /Not current|Nothing\.|Sources|current 0|last plan|not yet|none/);
    for (const role of ["search", "main", "table"] as const)
      assert.equal(await page.getByRole(role).count(), 0, role);
    await picture(page, "status-stand-by");
    stage.snapshot = { plan: undefined, leader: { ...STAND_BY, holder: undefined } };
    stage.statusFeed.changed();
    await reported.getByText("Nobody leads yet").waitFor();
    stage.snapshot = {};
    stage.look();
    await groups(page).waitFor();
    assert.equal(await reported.count(), 0);
    assert.deepEqual(complaints, []);
  },
);

test(
  "at 380 pixels each reason is on the screen, and only what is wide scrolls",
  { skip },
  async (t) => {
    const { page, complaints } = await browser.open((await smallStage(t)).url);
    await page.setViewportSize({ width: 380, height: 800 });
    await groups(page).waitFor();
    assert.equal(await page.evaluate("document.documentElement.scrollWidth"), 380);
    assert.equal(await page.evaluate("document.querySelector('#groups .scroll').scrollWidth"), 356);
    const reasons = [
      groups(page).getByText("403 Forbidden"),
      groups(page).getByText("of that name already exists"),
      page.locator("#sources").getByText("secretcast.io/to-selecter"),
      page.getByText("namespace team-legacy"),
    ];
    for (const reason of reasons) {
      const box = await reason.boundingBox();
      assert.ok(box && box.x >= 0 && box.x + box.width <= 380, JSON.stringify(box));
    }
    const first = await reasons[0]?.boundingBox();
    assert.ok(first && first.y + first.height <= 800, "without scrolling");
    const place = await groups(page).getByText("monitoring/smtp").boundingBox();
    assert.ok(first && place && first.y < place.y, "the reason comes before the places");
    await picture(page, "status-narrow");
    assert.deepEqual(complaints, []);
  },
);
