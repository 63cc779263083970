// The dashboard and the alerting rules against the program's own metrics: every metric, label and
// label's value that a query names is one that the program exports. promtool is not needed for it.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { loadYaml } from "@kubernetes/client-node";
import { METRIC_STATES } from "../../../src/controller/model/verdicts.ts";
import { metricsOfNothing } from "../../support/documents/metrics.ts";
import { groupedBy, selectors } from "../../support/documents/promql.ts";

const FOLDER = new URL("../../../manifests/chart/monitoring/", import.meta.url);
const read = (file: string) => readFileSync(new URL(file, FOLDER), "utf8");

type Rule = {
  readonly alert: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
};
type Target = { readonly expr: string; readonly legendFormat?: string };
type Panel = {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly description?: string;
  readonly gridPos: Readonly<Record<"x" | "y" | "w" | "h", number>>;
  readonly targets?: readonly Target[];
  readonly fieldConfig?: { readonly overrides: readonly Coloured[] };
};
type Coloured = { readonly matcher: { readonly id: string; readonly options: string } };

const { groups } = loadYaml<{ groups: { rules: Rule[] }[] }>(read("rules.yaml"));
const rules = groups.flatMap((group) => group.rules);
const dashboard: { panels: Panel[]; templating: { list: { definition?: string }[] } } = JSON.parse(
  read("dashboard.json"),
);
const targets = dashboard.panels.flatMap((panel) => panel.targets ?? []);
const queries = [...rules, ...targets].map(({ expr }) => expr);

const metrics = metricsOfNothing();

// What Prometheus adds to every series it scrapes.
const TARGET_LABELS = ["job", "instance", "namespace", "pod"];

// Whose values the program alone decides.
const OWN_LABELS = ["state", "certainty", "result", "resource", "verb", "kind", "publisher"];

/** The labels of a series; undefined where the program exports none of that name. */
function labelsOf(series: string): readonly string[] | undefined {
  const bare = series.replace(/_(bucket|sum|count)$/, "");
  const metric = metrics.registry.getSingleMetric(series) ?? metrics.registry.getSingleMetric(bare);
  if (!metric) return undefined;
  const names: unknown = Reflect.get(metric, "labelNames");
  assert.ok(Array.isArray(names));
  const le = series.endsWith("_bucket") ? ["le"] : [];
  return [...names.map(String), ...le, ...TARGET_LABELS];
}

test("every metric that a rule or a panel names is one of the program", () => {
  for (const query of queries)
    for (const { series } of selectors(query)) assert.ok(labelsOf(series), `${series} in ${query}`);
  // And what reads the queries does find them.
  assert.ok(queries.every((query) => selectors(query).length > 0));
  assert.equal(labelsOf("secretcast_nothing_total"), undefined);
});

test("every label that a query selects, groups or prints by is one of its metric", () => {
  for (const { expr, legendFormat = "" } of [...rules, ...targets] as readonly Target[]) {
    const known = new Set(selectors(expr).flatMap(({ series }) => labelsOf(series) ?? []));
    for (const { series, matchers } of selectors(expr))
      for (const { label } of matchers)
        assert.ok(labelsOf(series)?.includes(label), `${label} of ${series} in ${expr}`);
    for (const label of groupedBy(expr)) assert.ok(known.has(label), `${label} in ${expr}`);
    for (const [, label = ""] of legendFormat.matchAll(/\{\{(\w+)\}\}/g))
      assert.ok(known.has(label), `${label} in the legend of ${expr}`);
  }
  for (const { alert, expr, annotations } of rules)
    for (const [, label = ""] of (annotations["description"] ?? "").matchAll(/\$labels\.(\w+)/g))
      assert.ok(
        selectors(expr).every(({ series }) => labelsOf(series)?.includes(label)),
        alert,
      );
});

test("every label value in a query is one that the program gives", () => {
  const values: Readonly<Record<string, readonly string[]>> = {
    "secretcast_copies state": [...METRIC_STATES, "other"],
    "secretcast_held_removals publisher": ["named", "any"],
    "secretcast_old_values certainty": ["certain", "possible"],
    "secretcast_sources state": ["ok", "refused"],
    "secretcast_source_list_entries state": ["ok", "refused", "absent"],
    "secretcast_syncs_total result": ["ok", "error"],
  };
  for (const query of queries)
    for (const { series, matchers } of selectors(query))
      for (const { label, value } of matchers) {
        if (label === "job") continue;
        const known = series.startsWith("workqueue_") ? ["sync"] : values[`${series} ${label}`];
        for (const each of value.split("|"))
          assert.ok(known?.includes(each), `${each} in ${query}`);
      }
});

test("each metric state has its own colour among the places by state", () => {
  const panel = dashboard.panels.find(({ title }) => title === "Places by state");
  const coloured = panel?.fieldConfig?.overrides.map(({ matcher: { id, options } }) => [
    id,
    options,
  ]);
  assert.deepEqual(
    coloured,
    METRIC_STATES.map((state) => ["byName", state]),
  );
});

test("no rule knows a name that an installation chooses, and each tells installations apart", () => {
  for (const { alert, expr } of rules) {
    for (const { matchers } of selectors(expr))
      assert.deepEqual(
        matchers.filter(({ label }) => !OWN_LABELS.includes(label)),
        [],
        alert,
      );
    for (const label of ["job", "namespace"]) assert.ok(groupedBy(expr).includes(label), alert);
  }
});

/** What is held is deleted soon. */
const AT_ONCE = new Set(["SecretcastHeld", "SecretcastHeldOther"]);

test("each alert has a severity, a duration and a section in operations.md", () => {
  const page = readFileSync(new URL("../../../docs/operations.md", import.meta.url), "utf8");
  const sections = page
    .split(/^(?=#{2,3} )/m)
    .filter((section) => section.startsWith("### Secretcast"));
  assert.deepEqual(
    sections.map((section) => section.slice(4, section.indexOf("\n"))),
    rules.map(({ alert }) => alert),
  );
  for (const [at, { alert, labels, annotations, ...rule }] of rules.entries()) {
    const [, first = "", ...rest] = sections[at]?.split("\n\n") ?? [];
    const severity = labels["severity"] ?? "";
    assert.match(severity, /^(info|warning|critical)$/, alert);
    assert.ok(first.toLowerCase().startsWith(`${severity}. `), `the severity of ${alert}`);
    const steps = rest.join("\n\n");
    assert.match(steps, /^```(sh|console)$/m, `what to type for ${alert}`);
    assert.match(steps, /It is over when /, alert);
    if (AT_ONCE.has(alert)) assert.equal(rule.for, undefined, alert);
    else assert.match(rule.for ?? "", /^\d+[mh]$/, alert);
    assert.ok(annotations["summary"] && annotations["description"], alert);
  }
});

test("every log line and Event that an alert names is one of the program", () => {
  const source = new URL("../../../src/", import.meta.url);
  const files = readdirSync(source, { recursive: true, encoding: "utf8" }).filter((file) =>
    file.endsWith(".ts"),
  );
  const program = files.map((file) => readFileSync(new URL(file, source), "utf8")).join("\n");
  const descriptions = rules.map(({ annotations }) => annotations["description"] ?? "");
  const lines = descriptions.flatMap((text) =>
    [...text.matchAll(/"([^"{]+)"/g)].map(([, line]) => line),
  );
  assert.ok(lines.includes("lease not taken, renewed or released") && lines.includes("repaired"));
  for (const line of lines) assert.ok(program.includes(`"${line}"`), `no log line "${line}"`);
  const events = descriptions.flatMap((text) =>
    [...text.matchAll(/\bEvent ([A-Z]\w+)/g)].map(([, reason]) => reason),
  );
  assert.ok(events.includes("Failed"));
  for (const reason of events) assert.ok(program.includes(`"${reason}"`), `no Event ${reason}`);
});

test("each panel has a title, a meaning, a place and one job", () => {
  const cells = new Set<string>();
  for (const { id, type, title, description, gridPos } of dashboard.panels) {
    assert.ok(title && (type === "row" || description), String(id));
    for (let x = gridPos.x; x < gridPos.x + gridPos.w; x++)
      for (let y = gridPos.y; y < gridPos.y + gridPos.h; y++) {
        assert.ok(x < 24 && !cells.has(`${x} ${y}`), `${title} at ${x},${y}`);
        cells.add(`${x} ${y}`);
      }
  }
  const ids = dashboard.panels.map(({ id }) => id);
  assert.equal(new Set(ids).size, ids.length);
  for (const { expr } of targets)
    for (const { matchers } of selectors(expr))
      assert.ok(
        matchers.some(({ label, value }) => label === "job" && value === "$job"),
        expr,
      );
});
