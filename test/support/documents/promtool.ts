// Rules judged by Prometheus' own engine: series as a program under test gave them out, minute by
// minute, go into promtool's unit tests, and what fires comes back.
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Why promtool cannot be run here, or undefined when it can. */
export function promtoolMissing(): string | undefined {
  const asked = spawnSync("promtool", ["--version"], { encoding: "utf8" });
  return asked.status === 0 ? undefined : "there is no promtool on PATH, and no Go to build one";
}

/** What was scraped of several targets at whole minutes. */
export class Scrapes {
  readonly #series = new Map<string, string[]>();
  readonly #names: ReadonlySet<string>;
  readonly #startMs: number;
  #minutes = 0;

  /** Of the metrics `names` alone; minute 0 is at `startMs` of the target's wall clock. */
  constructor(names: Iterable<string>, startMs: number) {
    this.#names = new Set(names);
    this.#startMs = startMs;
  }

  /** The next minute: what each target gave out, by the labels that Prometheus adds to it. */
  minute(targets: ReadonlyMap<string, string>): void {
    for (const [labels, exposition] of targets)
      for (const line of exposition.split("\n")) this.#sample(labels, line);
    this.#minutes += 1;
  }

  #sample(target: string, line: string): void {
    const [, name = "", own = "", value = ""] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
    if (!this.#names.has(name)) return;
    const series = `${name}{${[own, target].filter((labels) => labels !== "").join()}}`;
    const values = this.#series.get(series) ?? [];
    // Before it was there, and while its target was gone.
    while (values.length < this.#minutes) values.push(values.at(-1) === undefined ? "_" : "stale");
    values.push(this.#rebased(name, value));
    this.#series.set(series, values);
  }

  // promtool's time begins at zero. A time of zero is none.
  #rebased(name: string, value: string): string {
    if (!name.endsWith("_timestamp_seconds") || value === "0") return value;
    return String(Number(value) - this.#startMs / 1000);
  }

  get input(): readonly { readonly series: string; readonly values: string }[] {
    return Array.from(this.#series, ([series, values]) => {
      const gone = values.length < this.#minutes ? " stale" : "";
      return { series, values: `${values.join(" ")}${gone}` };
    });
  }
}

/** By minute, which alerts of the rule file fire. */
export type Firing = Readonly<Record<number, readonly string[]>>;

/** promtool's complaint, or "" where at each minute just these alerts fire. */
export function unlessFiring(rules: string, scrapes: Scrapes, firing: Firing): string {
  const folder = mkdtempSync(join(tmpdir(), "secretcast-promtool-"));
  try {
    copyFileSync(rules, join(folder, "rules.yaml"));
    const expected = Object.entries(firing).map(([minute, alerts]) => ({
      expr: 'group by (alertname) (ALERTS{alertstate="firing"})',
      eval_time: `${minute}m`,
      exp_samples: alerts.map((alert) => ({ labels: `{alertname="${alert}"}`, value: 1 })),
    }));
    const tests = [{ interval: "1m", input_series: scrapes.input, promql_expr_test: expected }];
    const file = { rule_files: ["rules.yaml"], evaluation_interval: "1m", tests };
    writeFileSync(join(folder, "tests.yaml"), JSON.stringify(file));
    const { status, stdout, stderr } = spawnSync("promtool", ["test", "rules", "tests.yaml"], {
      cwd: folder,
      encoding: "utf8",
    });
    return status === 0 ? "" : `${stdout}${stderr}`;
  } finally {
    rmSync(folder, { recursive: true });
  }
}
