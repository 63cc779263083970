// A mapping in YAML, as users write one. Total: any text gives a mapping or what is wrong with it, in a bounded
// time. A text that is no mapping is never repeated in a message: it may have been meant for another place.
import {
  constructFromEvents,
  EVENT_ID,
  FAILSAFE_SCHEMA,
  parseEvents,
  realMapTag,
  YAMLException,
  type Event,
} from "js-yaml";
import { invalid, ok, type Result } from "./result.ts";

/** As for annotations: the API allows no larger total on one object. */
const LONGEST = 262_144;
/** YAML is read at a microsecond a line or item, and plain text in next to no time. */
const MOST_LINES = 4000;
const DEEPEST = 8;
const YAML = FAILSAFE_SCHEMA.withTags(realMapTag);

/** `form`: what the text must be. */
export function parseMapping(text: string, form: string): Result<Map<unknown, unknown>> {
  const { length } = text;
  if (length > LONGEST) {
    return invalid(`${length} characters`, `at most ${LONGEST} characters`);
  }
  const lines = linesOf(text);
  if (lines > MOST_LINES) {
    const expected = `at most ${MOST_LINES} lines and items; a text with commas is one`;
    return invalid(`${lines} lines and items`, expected);
  }
  try {
    const events = parseEvents(text, { maxDepth: DEEPEST });
    const reference = events.find(refersTo);
    if (reference) return invalid("", NO_REFERENCES);
    const documents = constructFromEvents(events, { source: text, schema: YAML });
    const [mapping] = documents;
    if (documents.length === 1 && mapping instanceof Map) return ok(mapping);
    return invalid("", form);
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error;
    // Names in quotes come from the text.
    const reason = error.reason.replaceAll(/"[^"]*"?/g, "...").slice(0, 100);
    const line = error.mark ? `line ${error.mark.line + 1}` : "";
    return invalid(line, `YAML (${reason}); a value that begins with *, &, ! or % is quoted`);
  }
}

const NO_REFERENCES = "no anchors, aliases or tags; a value that begins with *, & or ! is quoted";

function refersTo(event: Event): boolean {
  if (event.type === EVENT_ID.ALIAS) return true;
  return "tagStart" in event && (event.tagStart >= 0 || event.anchorStart >= 0);
}

// What determines the time that YAML takes: lines, and the items of a list in brackets.
function linesOf(text: string): number {
  const flow = /[[{]/.test(text);
  let count = 1;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 10 || code === 13 || (flow && code === 44)) count++;
  }
  return count;
}
