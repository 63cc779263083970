// @ts-check
// The helpers that build the page. Text only ever becomes a text node.

/**
 * @param {string} tag
 * @param {Readonly<Record<string, string | undefined>>} attributes undefined: without it
 * @param {(string | Node)[]} children
 * @returns {HTMLElement}
 */
export function el(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes))
    if (value !== undefined) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/** The element of the page's HTML. @param {string} id */
export function byId(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`no element "${id}"`);
  return found;
}

/** @type {WeakMap<Element, string>} */
const drawn = new WeakMap();

/**
 * Draws anew what differs from what was drawn there before. What a reader has opened stays open, and
 * the focus stays where it was: both are found again by `data-key`.
 *
 * @param {HTMLElement} into
 * @param {unknown} value what `draw` draws from
 * @param {() => (string | Node)[]} draw
 */
export function redraw(into, value, draw) {
  const text = JSON.stringify(value) ?? "";
  if (drawn.get(into) === text) return;
  drawn.set(into, text);
  const active = document.activeElement;
  const focused = active && into.contains(active) ? active.getAttribute("data-key") : null;
  const open = new Set(
    Array.from(into.querySelectorAll("details[open]"), (each) => each.getAttribute("data-key")),
  );
  into.replaceChildren(...draw());
  for (const each of into.querySelectorAll("[data-key]")) {
    const key = each.getAttribute("data-key");
    if (each instanceof HTMLDetailsElement) each.open = open.has(key);
    else if (key === focused && each instanceof HTMLElement) each.focus({ preventScroll: true });
  }
}

/** @param {number} count */
export function number(count) {
  return count.toLocaleString("en");
}

/** @param {number} count @param {string} noun */
export function counted(count, noun) {
  return `${number(count)} ${noun}${count === 1 ? "" : "s"}`;
}

/** The duration as text. @param {number} ms */
export function duration(ms) {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 90) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 90 ? `${minutes} min` : `${Math.round(minutes / 60)} h`;
}
