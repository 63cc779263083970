// As much of PromQL as our own queries use: which series they select, by which labels, and the labels
// they group by. It reads, it does not check the grammar: promtool does that where there is one.

export type Selector = {
  readonly series: string;
  readonly matchers: readonly { readonly label: string; readonly value: string }[];
};

const WORDS = new Set(["and", "or", "unless", "by", "without", "on", "ignoring", "bool", "offset"]);

/** Every vector selector of a query. */
export function selectors(query: string): readonly Selector[] {
  const found: Selector[] = [];
  const rest = withoutGrouping(query);
  // A name that is no function, with its matchers if it has any.
  for (const [, series = "", matchers = ""] of rest.matchAll(
    /(?<![\w"$.])([a-zA-Z_:][\w:]*)(?![\w:]|\s*\()(?:\{([^}]*)\})?(?=[^"]*(?:"[^"]*"[^"]*)*$)/g,
  ))
    if (!WORDS.has(series)) found.push({ series, matchers: matchersOf(matchers) });
  return found;
}

/** The labels that a query groups by. */
export function groupedBy(query: string): readonly string[] {
  return Array.from(query.matchAll(GROUPING), ([, list = ""]) => list)
    .flatMap((list) => list.split(","))
    .map((label) => label.trim())
    .filter((label) => label !== "");
}

const GROUPING = /\b(?:by|without|on|ignoring)\s*\(([^)]*)\)/g;

function withoutGrouping(query: string): string {
  // Ranges hold a unit or a variable, which is no name.
  return query.replaceAll(GROUPING, " ").replaceAll(/\[[^\]]*\]/g, "");
}

function matchersOf(text: string): Selector["matchers"] {
  return Array.from(
    text.matchAll(/(\w+)\s*(?:=~|!~|!=|=)\s*"([^"]*)"/g),
    ([, label = "", value = ""]) => ({ label, value }),
  );
}
