// Durations as Go writes them and sizes as Kubernetes does, text to number. Wrong text is a
// RangeError that names it and says what would be right.

const UNIT_MS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
};

/** Milliseconds of a Go duration: `500ms`, `10m`, `1h30m`, `1.5s`, `0`. Never negative. */
export function parseDuration(text: string): number {
  if (text === "0") return 0;
  let ms = 0;
  let rest = text;
  while (rest !== "") {
    const part = /^(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|ms|s|m|h)/.exec(rest);
    const unit = UNIT_MS[part?.[2] ?? ""];
    if (!part || unit === undefined)
      throw new RangeError(`"${text}" is not a duration: write it like 500ms, 10m or 1h30m`);
    ms += Number(part[1]) * unit;
    rest = rest.slice(part[0].length);
  }
  if (text === "") throw new RangeError(`"" is not a duration: write it like 500ms, 10m or 1h30m`);
  return ms;
}

const SUFFIX: Readonly<Record<string, number>> = {
  "": 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
  Ei: 2 ** 60,
};

/** Bytes of a Kubernetes quantity: `1048576`, `256Mi`, `1.5G`, `2e6`. Never negative. */
export function parseSize(text: string): number {
  const parts = /^(\d+(?:\.\d*)?(?:[eE]\+?\d{1,2})?)([kMGTPE]|[KMGTPE]i)?$/.exec(text);
  const factor = SUFFIX[parts?.[2] ?? ""];
  if (!parts || factor === undefined)
    throw new RangeError(`"${text}" is not a size: write it like 1048576, 512Ki or 256Mi`);
  return Number(parts[1]) * factor;
}

/** A duration in Go's notation, for people: 90_000 is `1m30s`. */
export function formatDuration(ms: number): string {
  if (ms < 1000) return ms === 0 ? "0s" : `${Math.round(ms)}ms`;
  const hours = Math.floor(ms / 3_600_000);
  const minutes = Math.floor((ms % 3_600_000) / 60_000);
  const seconds = Math.round((ms % 60_000) / 100) / 10;
  const text = [hours && `${hours}h`, minutes && `${minutes}m`, seconds && `${seconds}s`];
  return text.filter(Boolean).join("");
}
