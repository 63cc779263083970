// The records of a long soak as pictures: SVG without script or font, legible on light and dark pages.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { isLatency, isSample, type SoakRecord } from "./records.ts";

export type Series = {
  readonly name: string;
  /** Minutes, and the value. */
  readonly points: readonly (readonly [number, number])[];
  /** Dots stand for themselves, a line connects. */
  readonly dots?: boolean;
};
export type Chart = {
  readonly title: string;
  readonly unit: string;
  readonly series: readonly Series[];
  /** For values of many sizes; otherwise from 0. */
  readonly logarithmic?: boolean;
};

const [WIDTH, HEIGHT] = [760, 280];
const [LEFT, RIGHT, TOP, BOTTOM] = [56, 16, 44, 36];
const STYLE = `
  text { font: 12px system-ui, sans-serif; fill: #59636e; }
  .title { font-weight: 600; font-size: 14px; fill: #1f2328; }
  .grid { stroke: #59636e; stroke-opacity: 0.25; }
  .line { fill: none; stroke-width: 1.5; stroke-linejoin: round; }
  .line.s0 { stroke: #0969da; } .dot.s0 { fill: #0969da; }
  .line.s1 { stroke: #bc4c00; } .dot.s1 { fill: #bc4c00; }
  .line.s2 { stroke: #8250df; } .dot.s2 { fill: #8250df; }
  .dot { fill-opacity: 0.7; }
  @media (prefers-color-scheme: dark) {
    text { fill: #9198a1; }
    .title { fill: #f0f6fc; }
    .grid { stroke: #9198a1; }
    .line.s0 { stroke: #4493f8; } .dot.s0 { fill: #4493f8; }
    .line.s1 { stroke: #db6d28; } .dot.s1 { fill: #db6d28; }
    .line.s2 { stroke: #ab7df8; } .dot.s2 { fill: #ab7df8; }
  }`;

/** Writes the pictures and answers with their paths. */
export function drawSoak(records: readonly SoakRecord[], folder: string): readonly string[] {
  const samples = records.filter(isSample);
  const calm = records.filter(isLatency).filter((one) => one.calm);
  const over = (of: (one: (typeof samples)[number]) => number): Series["points"] =>
    samples.map((one) => [one.s / 60, of(one)]);
  const took = (what: string): Series["points"] =>
    calm.filter((one) => one.what === what).map(({ s, ms }) => [s / 60, ms]);
  const charts: Readonly<Record<string, Chart>> = {
    "soak-memory": {
      title: "Memory of the controller's process",
      unit: "MiB",
      series: [
        { name: "RSS", points: over(({ rssMiB }) => rssMiB) },
        { name: "V8 heap in use", points: over(({ heapMiB }) => heapMiB) },
      ],
    },
    "soak-handles": {
      title: "Open files and sockets, and what keeps its event loop alive",
      unit: "",
      series: [
        { name: "open files and sockets", points: over(({ fds }) => fds) },
        { name: "sockets, timers, requests", points: over(({ resources }) => resources) },
      ],
    },
    "soak-latency": {
      title: "From the change to the last copy, between the faults",
      unit: "ms",
      logarithmic: true,
      series: [
        { name: "a fresh namespace", points: took("fresh namespace"), dots: true },
        { name: "a changed source, 10 copies", points: took("changed source"), dots: true },
      ],
    },
    "soak-loop": {
      title: "Event loop delay over ten seconds, p99",
      unit: "ms",
      series: [{ name: "delay", points: over(({ lagP99Ms }) => lagP99Ms) }],
    },
  };
  return Object.entries(charts).map(([name, chart]) => {
    const path = join(folder, `${name}.svg`);
    writeFileSync(path, drawChart(chart));
    return path;
  });
}

export function drawChart({ title, unit, series, logarithmic = false }: Chart): string {
  const all = series.flatMap(({ points }) => points);
  const most = Math.max(1, ...all.map(([, y]) => y));
  const least = logarithmic ? 10 ** Math.floor(Math.log10(smallest(all))) : 0;
  const top = logarithmic ? 10 ** Math.ceil(Math.log10(most)) : niceAbove(most);
  const end = Math.max(1, ...all.map(([x]) => x));
  const x = (minutes: number): number => LEFT + (minutes / end) * (WIDTH - LEFT - RIGHT);
  const share = (value: number): number =>
    logarithmic
      ? Math.log10(Math.max(value, least) / least) / Math.log10(top / least)
      : value / top;
  const y = (value: number): number => HEIGHT - BOTTOM - share(value) * (HEIGHT - TOP - BOTTOM);
  const rows = ticks(least, top, logarithmic).map(
    (value) =>
      `<path class="grid" d="M${LEFT} ${fixed(y(value))}H${WIDTH - RIGHT}"/><text x="${LEFT - 8}" y="${fixed(y(value) + 4)}" text-anchor="end">${value}</text>`,
  );
  const columns = ticks(0, niceAbove(end), false)
    .filter((minutes) => minutes <= end)
    .map(
      (minutes) =>
        `<text x="${fixed(x(minutes))}" y="${HEIGHT - BOTTOM + 18}" text-anchor="middle">${minutes} min</text>`,
    );
  const drawn = series.map(({ points, dots }, at) => {
    const placed = points.map(([minutes, value]) => [fixed(x(minutes)), fixed(y(value))] as const);
    if (dots === true)
      return placed
        .map(([cx, cy]) => `<circle class="dot s${at}" cx="${cx}" cy="${cy}" r="2"/>`)
        .join("");
    return `<path class="line s${at}" d="${placed.map((point, n) => `${n === 0 ? "M" : "L"}${point.join(" ")}`).join("")}"/>`;
  });
  const legend = series.map(({ name }, at) => {
    const left = WIDTH - RIGHT - (series.length - at) * 210;
    return `<circle class="dot s${at}" cx="${left}" cy="32" r="4"/><text x="${left + 10}" y="36">${escaped(name)}</text>`;
  });
  const heading = `<text class="title" x="${LEFT}" y="18">${escaped(title)}${unit === "" ? "" : `, ${escaped(unit)}`}</text>`;
  const parts = [heading, ...legend, ...rows, ...columns, ...drawn];
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}" role="img" aria-label="${escaped(title)}">
<style>${STYLE}
</style>
${parts.join("\n")}
</svg>
`;
}

function ticks(least: number, top: number, logarithmic: boolean): readonly number[] {
  if (!logarithmic)
    return Array.from({ length: 5 }, (_, at) => Number(((top * at) / 4).toFixed(2)));
  const decades = Math.round(Math.log10(top / least));
  return Array.from({ length: decades + 1 }, (_, at) => least * 10 ** at);
}

/** 1, 2, 4 or 8 times a power of ten: a quarter of it is round. */
function niceAbove(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  const steps = [1, 2, 4, 8, 10].map((step) => step * power);
  return steps.find((step) => step >= value) ?? value;
}

function smallest(points: Series["points"]): number {
  return Math.max(0.1, Math.min(1000, ...points.map(([, value]) => value)));
}

const fixed = (value: number): string => value.toFixed(1);

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
}
