// Debian's Chromium for tests of pages, with a profile of its own that goes with the test. It collects
// what a page complains about: errors of scripts, lines on the console, what its policy refused.
import { existsSync } from "node:fs";
import { chromium, type Browser, type Page } from "playwright-core";

const CHROMIUM = "/usr/bin/chromium";
/** Why tests in a browser are skipped here, or false. */
export const noBrowser = existsSync(CHROMIUM) ? false : `no browser: ${CHROMIUM} is not there`;

// It talks to nobody but the page's server.
const QUIET = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

export type Opened = { readonly page: Page; readonly complaints: readonly string[] };

export class Chromium {
  readonly #browser: Browser;

  private constructor(browser: Browser) {
    this.#browser = browser;
  }

  static async start(): Promise<Chromium> {
    return new Chromium(await chromium.launch({ executablePath: CHROMIUM, args: QUIET }));
  }

  async open(url: string, look: "light" | "dark" = "light"): Promise<Opened> {
    const page = await this.#browser.newPage({
      colorScheme: look,
      viewport: { width: 1280, height: 860 },
      deviceScaleFactor: 1,
    });
    // A browser that starts beside builds of the image and of a release may take ten seconds.
    page.setDefaultTimeout(30_000);
    const complaints: string[] = [];
    page.on("pageerror", (error) => complaints.push(String(error)));
    page.on("console", (line) => {
      if (line.type() !== "log") complaints.push(`${line.type()}: ${line.text()}`);
    });
    page.on("requestfailed", (request) => {
      // The page ends its live connection itself when the filter changes, and a reload ends what the
      // page before was still asking for, its icon too.
      const ended = request.failure()?.errorText === "net::ERR_ABORTED";
      if (!ended) complaints.push(`failed: ${request.url()}`);
    });
    page.on("request", (request) => {
      if (new URL(request.url()).origin !== new URL(url).origin)
        complaints.push(`request to another place: ${request.url()}`);
    });
    await page.goto(url);
    return { page, complaints };
  }

  close(): Promise<void> {
    return this.#browser.close();
  }
}
