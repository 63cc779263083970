// @ts-check
/** @import { IgnoredStatus, ListStatus, Status, SourceLine, Totals } from "../status.ts" */
/** @import { StatusGroup, Truncated } from "../groups.ts" */
/** @import { SinceWhen } from "../since.ts" */
/** @import { Cell, Grid } from "../grid.ts" */
// Draws a status, section by section. Names of sources and namespaces are buttons that put them into the
// filter. page.js listens for them by `data-filter`.
import { counted, el, number } from "./dom.js";
/** @typedef {Pick<Status, "watches" | "outdated" | "serverAwayMs" | "troubles">} Vitals */

/** The metric states, in their order. A test compares them with the program's. */
export const STATES = /** @type {const} */ ([
  "current",
  "pending",
  "conflict",
  "failed",
  "held",
  "paused",
  "frozen",
]);

/** The states of sources. */
export const SOURCE_STATES = /** @type {const} */ (["refused"]);

const EXPECTED_KIND = "Secret";

/** A summary in one sentence. @param {Status} status */
export function summaryOf(status) {
  const { outdated } = status;
  const text = stateOf(status);
  return outdated && status.totals
    ? `Out of date. As of ${clockTime(outdated.asOfMs)}: ${text}`
    : text;
}

/** @param {Status} status */
function stateOf({ totals, leader, plannedMs }) {
  if (!totals || plannedMs === undefined)
    return leader.state === "stand-by"
      ? "On stand-by: another replica writes, and knows the state of the copies."
      : "No plan yet: the caches are being filled.";
  const { states, refused } = totals;
  const all = STATES.reduce((sum, state) => sum + states[state], 0);
  const other = STATES.filter((state) => state !== "current" && states[state] > 0);
  const problem = refused > 0 ? ` ${counted(refused, "source")} refused.` : "";
  if (all === 0) return `No copy is wanted anywhere.${problem}`;
  if (other.length === 0)
    return `${all === 1 ? "The one copy is" : `All ${number(all)} copies are`} current.${problem}`;
  const rest = other.map((state) => `${number(states[state])} ${state}`).join(", ");
  return `${number(states.current)} of ${counted(all, "place")} current, ${rest}.${problem}`;
}

/** For readers of a replica that has nothing to show. @param {Status["leader"]} leader */
export function drawStandBy({ holder, command }) {
  const why = "It plans nothing and writes nothing, so it cannot say how the copies are.";
  if (holder === undefined)
    return [el("p", {}, `${why} Nobody leads yet; it takes the Lease as soon as it may.`)];
  const leads = el("p", {}, `${why} `, el("b", { class: "name" }, holder), " leads.");
  if (command === undefined)
    return [leads, el("p", {}, "Forward the port of that one to see its page.")];
  return [
    leads,
    el("p", {}, "To see its page, end the port-forward to this one and run"),
    el("pre", { tabindex: "0", "aria-label": "Command" }, el("code", {}, command)),
  ];
}

/** Problems of the controller itself, one line each. @param {Vitals} vitals */
export function drawTroubles({ watches, outdated, serverAwayMs, troubles }) {
  const lines = [];
  if (outdated)
    lines.push([
      "What is shown is as of ",
      timeOf(outdated.asOfMs),
      ": the cluster has not been followed for ",
      timeOf(outdated.sinceMs, "for"),
      ".",
    ]);
  if (serverAwayMs !== undefined)
    lines.push(["The API server has not answered for ", timeOf(serverAwayMs, "for"), "."]);
  for (const { resource, disconnectedMs, nextTryMs, aliveMs } of watches) {
    if (disconnectedMs === undefined) continue;
    const next = nextTryMs === undefined ? "under way" : timeOf(nextTryMs, "due");
    lines.push([
      `${resource}: watch disconnected for `,
      timeOf(disconnectedMs, "for"),
      ", next try ",
      next,
      "; last heard ",
      timeOf(aliveMs),
      ".",
    ]);
  }
  for (const trouble of troubles) lines.push([trouble]);
  return lines.map((line) => el("li", {}, ...line));
}

/** @param {Totals | undefined} totals @param {string} chosen */
export function drawStates(totals, chosen) {
  const counts = { refused: totals?.refused, ...totals?.states };
  return [...STATES, ...SOURCE_STATES].map((state) => {
    const count = counts[state];
    const attributes = {
      type: "button",
      "data-state": state,
      "data-key": `state ${state}`,
      "data-none": count ? undefined : "",
      "aria-pressed": String(state === chosen),
    };
    return el("button", attributes, `${state} `, el("b", {}, number(count ?? 0)));
  });
}

/**
 * @param {Truncated<StatusGroup>} groups
 * @param {Status["unclear"]} unclear
 * @param {number | undefined} firstPlanMs
 */
export function drawGroups(groups, unclear, firstPlanMs) {
  const notes = unclear.shown.map(({ namespace, problem, since }) =>
    el(
      "p",
      { class: "problem" },
      `namespace ${namespace}: ${problem}`,
      el("span", { class: "quiet" }, " since ", ...sinceText(since)),
    ),
  );
  if (groups.total === 0) return [...notes, el("p", { class: "quiet" }, "Nothing.")];
  const head = ["Verdict", "Source", "Places", "Why", "Since", "Last try"];
  const table = el(
    "table",
    { class: "groups" },
    el("caption", { class: "hidden" }, "Places that are not current, by source and reason"),
    headOf(head),
    el("tbody", {}, ...groups.shown.map(drawGroup)),
  );
  const parts = [...notes, el("div", { class: "scroll" }, table), ...more(groups, "group")];
  const unknown = groups.shown.some(({ since }) => since.orBefore) && firstPlanMs !== undefined;
  return unknown ? [...parts, beforeNote(firstPlanMs)] : parts;
}

/** A note on states that may be older than this process. @param {number} firstPlanMs */
function beforeNote(firstPlanMs) {
  const text = "Since before: it was so already at the first plan of this replica, ";
  return el("p", { class: "quiet" }, text, timeOf(firstPlanMs), ".");
}

/** @param {SinceWhen} since */
function sinceText({ ms, orBefore }) {
  return orBefore ? ["before ", timeOf(ms)] : [timeOf(ms)];
}

/** @param {StatusGroup} group */
function drawGroup(group) {
  const { kind, source, verdict, state, reason, cause, places, since, triedMs } = group;
  return el(
    "tr",
    {},
    el("td", {}, el("span", { "data-state": state }, verdict)),
    el("th", { scope: "row" }, ...kindLabel(kind), nameButton("source", source, "group")),
    el("td", { class: "where" }, drawPlaces(places, `${kind} ${source} ${verdict} ${reason}`)),
    el(
      "td",
      { class: "why" },
      reason,
      cause === undefined ? "" : ` (cause: ${cause})`,
      ...drawDue(group),
      ...drawDiffering(group),
    ),
    el("td", { class: "when", "data-label": "since " }, ...sinceText(since)),
    el("td", { class: "when" }, ...(triedMs === undefined ? [] : [timeOf(triedMs)])),
  );
}

/** What happens by itself, when, and what prevents it. @param {StatusGroup} group */
function drawDue({ dueMs, dueWords, unless }) {
  if (dueMs === undefined || dueWords === undefined) return [];
  const condition = unless === undefined ? "" : ` unless ${unless}`;
  const at = `${dueWords} at ${utcText(dueMs)} (`;
  const attributes = { class: unless === undefined ? "quiet" : "problem" };
  return [el("div", attributes, at, timeOf(dueMs, "due"), `)${condition}`)];
}

/** @param {StatusGroup} group */
function drawDiffering({ differing, places }) {
  if (!differing) return [];
  const { known, unknown } = differing;
  const of = `${number(known)} of ${number(places.total)}`;
  const verb = known === 1 ? "differs" : "differ";
  const rest = unknown > 0 ? `; of ${number(unknown)} it is not known` : "";
  return [el("div", { class: "quiet" }, `${of} ${verb} from the source${rest}`)];
}

/** @param {Truncated<string>} places @param {string} key */
function drawPlaces({ total, shown }, key) {
  const items = shown.map((place) => el("li", { class: "name" }, place));
  if (total <= 3) return el("ul", { class: "plain" }, ...items);
  const rest = total - shown.length;
  return el(
    "details",
    { "data-key": key },
    el("summary", { "data-key": `${key} summary` }, counted(total, "place")),
    el("ul", { class: "plain" }, ...items),
    ...(rest > 0 ? [el("small", {}, `and ${number(rest)} more; filter by namespace`)] : []),
  );
}

/** Our annotations without effect. @param {IgnoredStatus} ignored */
export function drawIgnored({ reasons, objects, flags }) {
  const wrong = flags.map((flag) => el("p", { class: "problem" }, `${flag} matches no namespace`));
  const counts = reasons
    .filter(({ reason }) => reason !== "flag")
    .map(({ text, count }) => el("li", {}, el("b", {}, number(count)), ` × ${text}`));
  const named = objects.shown.map(({ kind, object, text }) =>
    el("li", {}, ...kindLabel(kind), el("span", { class: "name" }, object), ` ${text}`),
  );
  const list = el("ul", { class: "plain" }, ...counts);
  if (named.length === 0) return [...wrong, list];
  const summary = el("summary", { "data-key": "ignored summary" }, "some of them by name");
  const attributes = { "data-key": "ignored" };
  return [
    ...wrong,
    list,
    el("details", attributes, summary, el("ul", { class: "plain" }, ...named)),
  ];
}

/** Problems of the source list. @param {ListStatus} list */
function drawList({ state, reason, refused, absent }) {
  const unread = state === "unread" ? [el("p", { class: "problem" }, reason)] : [];
  const faulty = refused.shown.map((text) => el("p", { class: "problem" }, text));
  const missing = absent.shown.map((text) => el("p", { class: "quiet" }, text));
  return [...unread, ...faulty, ...more(refused, "entry"), ...missing, ...more(absent, "entry")];
}

/** @param {Status["sources"]} sources @param {ListStatus} list @param {boolean} filtered */
export function drawSources(sources, list, filtered) {
  const listed = drawList(list);
  if (sources.total === 0)
    return [
      ...listed,
      el("p", { class: "quiet" }, filtered ? "None matches." : "There is none yet."),
    ];
  const fine = sources.shown.filter(isFine);
  const rest = sources.shown.filter((line) => !isFine(line));
  const parts = rest.length > 0 ? [...listed, sourceTable(rest)] : listed;
  if (fine.length > 0) {
    const beyond = sources.total > sources.shown.length ? "+" : "";
    const title = `${number(fine.length)}${beyond} ${fine.length === 1 ? "source is" : "sources are"} current wherever wanted`;
    const summary = el("summary", { "data-state": "current", "data-key": "fine summary" }, title);
    const attributes = { class: "fine", "data-key": "fine" };
    parts.push(el("details", attributes, summary, sourceTable(fine)));
  }
  return [...parts, ...more(sources, "source")];
}

/** @param {SourceLine} line */
function isFine({ state, notes, paused }) {
  return state === "current" && notes.length === 0 && !paused;
}

/** @param {readonly SourceLine[]} lines */
function sourceTable(lines) {
  const table = el(
    "table",
    { class: "sources" },
    el("caption", { class: "hidden" }, "Sources, and their places by state"),
    headOf(["Source", "", "Since", ...STATES], STATES),
    el("tbody", {}, ...lines.map(drawSource)),
  );
  return el("div", { class: "scroll" }, table);
}

/** @param {SourceLine} line */
function drawSource({ kind, source, entry, state, paused, problems, notes, states, since }) {
  const bar = el("div", { class: "bar", "aria-hidden": "true" });
  for (const each of STATES)
    if (states[each] > 0) {
      const part = el("i", {});
      part.style.flexGrow = String(states[each]);
      part.style.setProperty("--shade", `var(--${each})`);
      bar.append(part);
    }
  const told = [
    ...SOURCE_STATES.filter((each) => each === state).map((each) =>
      el("small", { "data-state": each }, each),
    ),
    ...problems.map((problem) => el("div", { class: "problem" }, problem)),
    ...(entry ? [el("div", { class: "quiet" }, `entry ${entry} of the source list`)] : []),
    ...(paused ? [el("div", { class: "quiet" }, "paused")] : []),
    ...notes.map((note) => el("div", { class: "quiet" }, note)),
  ];
  const named = [...kindLabel(kind), nameButton("source", source, "line"), " ", ...told];
  // Without a place there is no bar, and the reason is shown instead.
  const first = bar.hasChildNodes()
    ? [el("th", { scope: "row" }, ...named), el("td", {}, bar)]
    : [el("th", { scope: "row", colspan: "2" }, ...named)];
  return el(
    "tr",
    {},
    ...first,
    el("td", { class: "when" }, ...sinceText(since)),
    ...STATES.map((each) =>
      states[each] > 0
        ? el("td", { class: "number" }, number(states[each]))
        : el("td", { class: "number quiet" }, el("span", { class: "hidden" }, "0")),
    ),
  );
}

/** @param {Grid | undefined} grid */
export function drawGrid(grid) {
  if (!grid || grid.lines.length === 0) return [el("p", { class: "quiet" }, "No copy to show.")];
  const { sources, lines, sourcesTotal, namespacesTotal } = grid;
  const head = el(
    "tr",
    {},
    el("td", {}),
    ...sources.map(({ kind, source }) =>
      el("th", { scope: "col" }, ...kindLabel(kind), nameButton("source", source, "column")),
    ),
  );
  const rows = lines.map(({ namespace, cells }) =>
    el(
      "tr",
      {},
      el("th", { scope: "row" }, nameButton("namespace", namespace, "row")),
      ...cells.map((cell, at) => drawCell(cell, `${namespace}, ${sources[at]?.source}`)),
    ),
  );
  const table = el(
    "table",
    { class: sources.length > 5 ? "matrix many" : "matrix" },
    el("caption", { class: "hidden" }, "The verdict for each source in each namespace"),
    el("thead", {}, head),
    el("tbody", {}, ...rows),
  );
  const note = `${number(lines.length)} of ${counted(namespacesTotal, "namespace")} and ${number(sources.length)} of ${counted(sourcesTotal, "source")}: what is not current comes first, who has no copy is left out.`;
  return [el("p", { class: "quiet" }, note), el("div", { class: "scroll" }, table)];
}

/** @param {Cell} cell @param {string} where */
function drawCell(cell, where) {
  if (!cell) return el("td", {});
  const { verdict, state } = cell;
  const attributes = { "data-state": state, title: `${verdict}: ${where}` };
  return el("td", attributes, el("span", { class: "hidden" }, verdict));
}

/** @param {readonly string[]} titles @param {readonly string[]} numbers */
function headOf(titles, numbers = []) {
  const cells = titles.map((title) =>
    title === ""
      ? el("td", {})
      : el("th", { scope: "col", class: numbers.includes(title) ? "number" : undefined }, title),
  );
  return el("thead", {}, el("tr", {}, ...cells));
}

/** The kind, unless it is the default. @param {string} kind */
function kindLabel(kind) {
  return kind === EXPECTED_KIND ? [] : [el("small", { class: "kind" }, kind), " "];
}

/** @param {"source" | "namespace"} filter @param {string} name @param {string} where */
function nameButton(filter, name, where) {
  const attributes = {
    type: "button",
    class: "name",
    "data-filter": filter,
    "data-key": `${where} ${name}`,
    title: `show only this ${filter}`,
  };
  return el("button", attributes, name);
}

/** @param {Truncated<unknown>} cut @param {string} noun */
function more({ total, shown }, noun) {
  if (total <= shown.length) return [];
  const text = `The first ${number(shown.length)} of ${counted(total, noun)}. Filter to see others.`;
  return [el("p", { class: "quiet" }, text)];
}

// The last moment that a Date can represent. A grace may be longer.
const LATEST_MS = 8.64e15;

/** @param {number} ms */
function dateOf(ms) {
  return new Date(Math.min(ms, LATEST_MS));
}

/** In the form of the Events and the log. @param {number} ms */
function utcText(ms) {
  const [day = "", time = ""] = dateOf(Math.round(ms / 1000) * 1000)
    .toISOString()
    .split("T");
  return `${day} ${time.slice(0, 8)} UTC`;
}

/** In the reader's time zone. @param {number} ms */
function clockTime(ms) {
  return new Date(ms).toLocaleTimeString("en-GB");
}

/**
 * A moment that page.js keeps updating: how long ago it was, "for" how long it has been, or when it
 * is "due".
 *
 * @param {number} ms
 * @param {"due" | "for"} [kind]
 */
export function timeOf(ms, kind) {
  const date = dateOf(ms);
  const title = date.toLocaleString("en-GB");
  return el("time", { datetime: date.toISOString(), class: kind, title });
}
