// Matches patterns of other tools against names. One pattern can run endlessly on one name, so each has a
// time limit.
import { setImmediate } from "node:timers/promises";
import { createContext, Script } from "node:vm";
import { RE2JS } from "re2js";
import { fields } from "../oldtools/old-objects.ts";
import {
  patternExpression,
  patternKey,
  shownPattern,
  type PatternAnswer,
  type PatternAnswers,
  type PatternExpression,
  type PatternUse,
} from "../oldtools/patterns/old-patterns.ts";

const LIMIT_MS = 1000;
/** The factor of the limit after which a process that gets little of the processor is not waited for. */
const LONGEST = 8;
/** The part of the limit that a process uses which gets all of the processor. */
const ALMOST = 0.9;

export async function matchPatterns(
  uses: readonly PatternUse[],
  names: readonly string[],
  limitMs = LIMIT_MS,
): Promise<PatternAnswers> {
  const answers = new Map<string, PatternAnswer>();
  for (const use of uses) {
    // Signals are heard between two patterns.
    await setImmediate();
    answers.set(patternKey(use), answerOf(use, names, limitMs));
  }
  return answers;
}

function answerOf(use: PatternUse, names: readonly string[], limitMs: number): PatternAnswer {
  const expression = patternExpression(use);
  if (expression.kind !== "expression") return expression;
  const unknown = (why: string): PatternAnswer => {
    return { kind: "unknown", why: `the pattern ${shownPattern(use.pattern)} ${why}` };
  };
  try {
    const matched = within(limitMs, () => names.filter(testOf(expression, use.mode)));
    return matched
      ? { kind: "names", names: new Set(matched) }
      : unknown(`took longer than ${limitMs} ms`);
  } catch {
    return expression.engine === "RE2" ? { kind: "refused" } : unknown("cannot be read");
  }
}

function testOf(
  { engine, source, flags }: PatternExpression,
  mode: PatternUse["mode"],
): (name: string) => boolean {
  if (engine === "RE2") {
    const pattern = RE2JS.compile(source);
    return (name) => pattern.matcher(name).find();
  }
  const pattern = new RegExp(source, flags);
  return (name) => {
    const match = pattern.exec(name);
    return match !== null && (mode !== "cover" || match[0].length === name.length);
  };
}

const CALL = new Script("run()");
const scope: { run?: () => unknown } = {};
createContext(scope);

/** What `run` returns. Undefined when it was stopped, because it took too long. */
function within(
  limitMs: number,
  run: () => readonly string[],
  timeout = limitMs,
): readonly string[] | undefined {
  let result: readonly string[] | undefined;
  scope.run = () => void (result = run());
  const spent = spentMs();
  try {
    CALL.runInContext(scope, { timeout });
  } catch (error) {
    if (fields(error)["code"] !== "ERR_SCRIPT_EXECUTION_TIMEOUT") throw error;
    // On a busy machine a pattern that needs little waits long.
    const isBusy = spentMs() - spent < ALMOST * limitMs && timeout < LONGEST * limitMs;
    return isBusy ? within(limitMs, run, 2 * timeout) : undefined;
  }
  return result;
}

function spentMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
