// Matches patterns of other tools against names in a separate thread. One pattern can run endlessly on one
// name. Its time then ends, the thread is stopped, and a new thread matches the other patterns. This file
// is also the thread's program.
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import { RE2JS } from "re2js";
import {
  patternKey,
  patternQuestion,
  shownPattern,
  type PatternAnswer,
  type PatternQuestion,
  type PatternUse,
} from "../oldtools/patterns/old-patterns.ts";

const LIMIT_MS = 1000;
/** A thread that gets little of the processor ends after this time too. */
const LONGEST_MS = 10 * LIMIT_MS;

type Task = {
  readonly program: "secretcast patterns";
  readonly questions: readonly PatternQuestion[];
  readonly names: readonly string[];
};
/** Undefined when the engine does not accept the pattern. */
type Reply = { readonly key: string; readonly names: readonly string[] | undefined };

export async function matchPatterns(
  uses: readonly PatternUse[],
  names: readonly string[],
  limitMs = LIMIT_MS,
): Promise<ReadonlyMap<string, PatternAnswer>> {
  const answers = new Map<string, PatternAnswer>();
  let questions: PatternQuestion[] = [];
  for (const use of uses) {
    const question = patternQuestion(use);
    if ("kind" in question) answers.set(patternKey(use), question);
    else questions.push(question);
  }
  const texts = new Map(uses.map((use) => [patternKey(use), use.pattern]));
  const unknown = (key: string, why: string): void => {
    const pattern = shownPattern(texts.get(key) ?? "");
    answers.set(key, { kind: "unknown", why: `the pattern ${pattern} ${why}` });
  };
  const isRe2 = new Set(questions.flatMap(({ key, engine }) => (engine === "RE2" ? [key] : [])));
  while (questions.length > 0) {
    for (const { key, names: matched } of await ask(questions, names, limitMs)) {
      if (matched) answers.set(key, { kind: "names", names: new Set(matched) });
      else if (isRe2.has(key)) answers.set(key, { kind: "refused" });
      else unknown(key, "cannot be read");
    }
    const [late] = (questions = questions.filter(({ key }) => !answers.has(key)));
    if (late) unknown(late.key, `took longer than ${limitMs} ms`);
    questions = questions.slice(1);
  }
  return answers;
}

// The answers until the thread ended or one pattern took too long.
function ask(
  questions: readonly PatternQuestion[],
  names: readonly string[],
  limitMs: number,
): Promise<readonly Reply[]> {
  const { promise, resolve } = Promise.withResolvers<readonly Reply[]>();
  const task: Task = { program: "secretcast patterns", questions, names };
  const worker = new Worker(new URL(import.meta.url), {
    workerData: task,
    resourceLimits: { maxOldGenerationSizeMb: 64 },
  });
  const replies: Reply[] = [];
  const end = (): void => {
    clearTimeout(timer);
    void worker.terminate();
    resolve(replies);
  };
  // A thread takes longer to start than most patterns take.
  let timer = setTimeout(end, LONGEST_MS);
  // On a busy machine a pattern that needs little waits long. This process only waits for its thread, so that
  // the time which the process used is the thread's.
  const limit = (): void => {
    const [begun, spent] = [performance.now(), spentMs()];
    const look = (): void => {
      const isLate = spentMs() - spent >= limitMs || performance.now() - begun >= LONGEST_MS;
      if (isLate) end();
      else timer = setTimeout(look, limitMs);
    };
    timer = setTimeout(look, limitMs);
  };
  worker.on("message", (reply: Reply | "begun") => {
    clearTimeout(timer);
    limit();
    if (reply !== "begun") replies.push(reply);
    if (replies.length === questions.length) end();
  });
  worker.on("error", end);
  worker.on("exit", end);
  return promise;
}

function spentMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

function answer({ questions, names }: Task): void {
  tell("begun");
  for (const question of questions) tell({ key: question.key, names: matchesOf(question, names) });
}

function tell(reply: Reply | "begun"): void {
  parentPort?.postMessage(reply, []);
}

function matchesOf(
  question: PatternQuestion,
  names: readonly string[],
): readonly string[] | undefined {
  try {
    const matches = question.engine === "RE2" ? re2Test(question) : javascriptTest(question);
    return names.filter(matches);
  } catch {
    return undefined;
  }
}

type Matches = (name: string) => boolean;

function re2Test({ source }: PatternQuestion): Matches {
  const pattern = RE2JS.compile(source);
  return (name) => pattern.matcher(name).find();
}

function javascriptTest({ source, flags, cover }: PatternQuestion): Matches {
  const pattern = new RegExp(source, flags);
  return (name) => {
    const match = pattern.exec(name);
    return match !== null && (!cover || match[0].length === name.length);
  };
}

function isTask(data: unknown): data is Task {
  return (
    typeof data === "object" &&
    data !== null &&
    "program" in data &&
    data.program === "secretcast patterns"
  );
}

if (!isMainThread && isTask(workerData)) answer(workerData);
