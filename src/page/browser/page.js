// @ts-check
/** @import { Status } from "../status.ts" */
// Runs the page. The address contains the filter. The status arrives by server-sent events, and changed parts
// are drawn again. If the connection is lost, the page reports that and retries.
import { byId, duration, el, redraw } from "./dom.js";
import {
  drawGrid,
  drawGroups,
  drawIgnored,
  drawSources,
  drawStandBy,
  drawStates,
  drawTroubles,
  summaryOf,
  timeOf,
} from "./view.js";

const FIELDS = /** @type {const} */ (["source", "namespace", "state"]);
// The server ticks every 5 s.
const SILENCE_MS = 15_000;
const RETRY_MS = 3000;
const TYPING_MS = 200;
// Screen readers do not announce each step of a fan-out.
const ANNOUNCE_MS = 3000;

const form = byId("filter");
const filter = new URLSearchParams();
/** @type {Status | undefined} */
let status;
/** @type {EventSource | undefined} */
let events;
let heardAt = 0;
/** The server's clock minus the browser's. */
let skewMs = 0;
let announcedAt = 0;
/** @type {ReturnType<typeof setTimeout> | undefined} */
let typing;

function connect() {
  events?.close();
  heardAt = performance.now();
  const source = new EventSource(`/api/events?${filter}`);
  events = source;
  source.addEventListener("status", ({ data }) => {
    status = JSON.parse(data);
    draw();
    followed();
  });
  source.addEventListener("tick", ({ data }) => {
    skewMs = Number(data) - Date.now();
    heardAt = performance.now();
    followed();
    tell();
  });
  source.addEventListener("error", () => connection("lost", "connection lost, trying again"));
}

/** @param {string} state @param {string} text */
function connection(state, text) {
  const shown = byId("connection");
  shown.dataset["state"] = state;
  if (shown.textContent !== text) shown.textContent = text;
}

/** The page receives updates from the controller. This says nothing about the controller's own watches. */
function followed() {
  const outdated = status?.outdated !== undefined;
  document.body.toggleAttribute("data-outdated", outdated);
  if (outdated) connection("stale", "out of date");
  else connection("live", "live");
}

function draw() {
  if (!status) return;
  const { totals, groups, unclear, firstPlanMs, sources, list, ignored, grid } = status;
  const chosen = filter.get("state") ?? "";
  const summary = summaryOf(status);
  if (byId("summary").textContent !== summary) byId("summary").textContent = summary;
  document.title = totals?.states.current === undefined ? "secretcast" : `secretcast: ${summary}`;
  redraw(byId("states"), [totals, chosen], () => drawStates(totals, chosen));
  redraw(byId("groups"), [groups, unclear, firstPlanMs], () =>
    drawGroups(groups, unclear, firstPlanMs),
  );
  redraw(byId("sources"), [sources, list], () => drawSources(sources, list, filter.size > 0));
  byId("without-effect").hidden = ignored.reasons.length === 0;
  redraw(byId("ignored"), ignored, () => drawIgnored(ignored));
  redraw(byId("grid"), grid, () => drawGrid(grid));
  // Without a plan nothing is known about copies, so neither zero nor "none" is shown.
  for (const id of ["filter", "main"]) byId(id).hidden = totals === undefined;
  const { leader } = status;
  const waits = totals === undefined && leader.state === "stand-by";
  redraw(byId("stand-by"), waits && leader, () => (waits ? drawStandBy(leader) : []));
  byId("stand-by").hidden = !waits;
  drawHead(status);
  tell();
}

/** @param {Status} status */
function drawHead(status) {
  const { version, dryRun, leader, watches, plannedMs, convergedMs, totals } = status;
  /** @type {[string, string | Node][]} */
  const facts = [
    ["Leader", leaderText(leader)],
    ...watches.map(
      ({ resource, filled, aliveMs }) =>
        /** @type {[string, string | Node]} */ ([
          `${resource} last heard`,
          filled ? timeOf(aliveMs) : "cache not filled yet",
        ]),
    ),
  ];
  if (totals && plannedMs !== undefined)
    facts.push(
      ["Last plan", timeOf(plannedMs)],
      ["Last converged", convergedMs === undefined ? "not yet" : timeOf(convergedMs)],
    );
  if (totals && totals.deletesHeld > 0) facts.push(["Deletions held", String(totals.deletesHeld)]);
  if (dryRun) facts.push(["Dry run", "nothing is written"]);
  facts.push(["Version", version]);
  const shown = { leader, watches, plannedMs, convergedMs, held: totals?.deletesHeld };
  redraw(byId("facts"), shown, () =>
    facts.map(([term, text]) => el("div", {}, el("dt", {}, term), el("dd", {}, text))),
  );
  const list = byId("troubles");
  const { outdated, serverAwayMs, troubles } = status;
  const vitals = { watches, outdated, serverAwayMs, troubles };
  redraw(list, vitals, () => drawTroubles(vitals));
  list.hidden = list.childElementCount === 0;
}

/** @param {Status["leader"]} leader */
function leaderText({ state, holder }) {
  if (state === "alone") return "this process, without election";
  if (state === "leading") return `this replica${holder === undefined ? "" : ` (${holder})`}`;
  return holder === undefined ? "nobody yet" : `${holder}; this replica is on stand-by`;
}

/** Updates how long ago each moment was. */
function tell() {
  const now = Date.now() + skewMs;
  for (const time of document.querySelectorAll("time")) {
    const ms = now - Date.parse(time.dateTime);
    const kind = time.className;
    const past = kind === "due" ? "now" : `${duration(ms)}${kind === "for" ? "" : " ago"}`;
    const text = ms >= 0 ? past : `in ${duration(-ms)}`;
    if (time.textContent !== text) time.textContent = text;
  }
  const summary = byId("summary").textContent;
  if (byId("announce").textContent === summary || performance.now() - announcedAt < ANNOUNCE_MS)
    return;
  announcedAt = performance.now();
  byId("announce").textContent = summary;
}

/** @param {(typeof FIELDS)[number]} field @param {string} value */
function choose(field, value) {
  if (value === "") filter.delete(field);
  else filter.set(field, value);
  const input = form.querySelector(`input[name="${field}"]`);
  if (input instanceof HTMLInputElement && input.value !== value) input.value = value;
}

function filterChanged() {
  history.replaceState(null, "", filter.size > 0 ? `?${filter}` : location.pathname);
  draw();
  connect();
}

document.addEventListener("click", ({ target }) => {
  const button = target instanceof Element ? target.closest("button") : null;
  const field = FIELDS.find((each) => each === button?.dataset["filter"]);
  const state = button?.dataset["state"];
  if (button && field) choose(field, button.textContent ?? "");
  else if (state !== undefined) choose("state", filter.get("state") === state ? "" : state);
  else return;
  filterChanged();
});
form.addEventListener("input", ({ target }) => {
  if (!(target instanceof HTMLInputElement)) return;
  const field = FIELDS.find((each) => each === target.name);
  if (field) choose(field, target.value);
  clearTimeout(typing);
  typing = setTimeout(filterChanged, TYPING_MS);
});
form.addEventListener("submit", (event) => event.preventDefault());
form.addEventListener("reset", () => {
  for (const field of FIELDS) choose(field, "");
  filterChanged();
});
setInterval(() => {
  tell();
  const silentMs = performance.now() - heardAt;
  const closed = events?.readyState === EventSource.CLOSED;
  if (silentMs > SILENCE_MS || (closed && silentMs > RETRY_MS)) {
    connection("lost", "connection lost, trying again");
    connect();
  }
}, 1000);

const asked = new URLSearchParams(location.search);
for (const field of FIELDS) choose(field, asked.get(field) ?? "");
connect();
