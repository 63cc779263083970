// `npm run verify`: explores every domain until nothing new is found, and fails where a judge finds something,
// a domain does not close, or a count is 0 that should not be.
//
// --domain NAME: these alone. --history "STEP, STEP": plays one history, as a failure prints it. --planted: plants
// each fault of faults.ts, and shows which domain finds it and after how many seconds. --fault NAME: plants one.
// --failures N: so many before a domain is given up. --seconds N: a domain that takes longer is not closed.
import { spawnSync } from "node:child_process";
import { FAULTS, type Fault } from "./faults.ts";
import { prepareSources } from "./hooks.ts";
import { shellCommand } from "../../src/text/shell-word.ts";
import { refuse, wordsOf } from "../../tools/words.ts";

const { values } = wordsOf(import.meta.filename, {
  options: {
    domain: { type: "string", multiple: true },
    history: { type: "string" },
    planted: { type: "boolean", default: false },
    fault: { type: "string" },
    failures: { type: "string", default: "1" },
    seconds: { type: "string", default: "Infinity" },
  },
});
const limits = { failures: count("failures"), seconds: count("seconds") };
Error.stackTraceLimit = 5;
process.exitCode = values.planted ? planted() : await explored();

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

function count(flag: "failures" | "seconds"): number {
  const number = Number(values[flag]);
  if (number > 0) return number;
  return refuse(import.meta.filename, `--${flag} "${values[flag]}" is not a number above 0`);
}

function faultNamed(name: string): Fault {
  const fault = FAULTS.find((one) => one.name === name);
  if (fault) return fault;
  const known = FAULTS.map((one) => `"${one.name}"`).join(", ");
  return refuse(import.meta.filename, `there is no fault "${name}": there are ${known}`);
}

/** A domain that is not there would be closed without having been visited. */
function refuseUnknown(domains: readonly string[]): void {
  const unknown = values.domain?.find((name) => !domains.includes(name));
  if (unknown === undefined) return;
  const known = domains.map((name) => `"${name}"`).join(", ");
  refuse(import.meta.filename, `there is no domain "${unknown}": there are ${known}`);
}

async function explored(): Promise<number> {
  const fault = values.fault === undefined ? undefined : faultNamed(values.fault);
  prepareSources(fault && "text" in fault ? fault.text : undefined);
  const { plant } = await import("./subject.ts");
  if (fault && "wall" in fault) plant(fault.wall);
  const { DOMAINS } = await import("./domains.ts");
  const { explore, replay } = await import("./explore.ts");
  const { COLUMNS, rowOf, zerosOf } = await import("./table.ts");
  refuseUnknown(DOMAINS.map(({ name }) => name));
  const chosen = DOMAINS.filter(({ name, apart }) => values.domain?.includes(name) ?? !apart);
  if (values.history !== undefined) {
    const [domain] = chosen;
    const steps = values.history.split(", ").filter((step) => step !== "");
    const wrong = domain && (await replay(domain, steps));
    print(wrong ?? "all is right");
    return wrong === undefined ? 0 : 1;
  }
  let failed = 0;
  print(COLUMNS);
  for (const domain of chosen) {
    const result = await explore(domain, limits);
    print(rowOf(result));
    for (const [rule, { what, history }] of result.expected)
      print(`  expected: ${rule}\n    ${what}\n    ${commandOf(domain.name, history)}`);
    for (const { what, history } of result.failures)
      print(`  FAILED ${what}\n    ${commandOf(domain.name, history)}`);
    const zeros = fault ? [] : zerosOf(domain, result);
    for (const zero of zeros) print(`  FAILED ${zero}`);
    failed += result.failures.length + zeros.length;
  }
  return failed > 0 ? 1 : 0;
}

function commandOf(domain: string, history: readonly string[]): string {
  const words = ["npm", "run", "verify", "--", "--domain", domain];
  return shellCommand(...words, "--history", history.join(", "));
}

/** Each in a process of its own: what is loaded stays as it was loaded. */
function planted(): number {
  let missed = 0;
  for (const { name, domain } of FAULTS) {
    const began = performance.now();
    const words = [import.meta.filename, "--fault", name, "--domain", domain];
    const { status, stdout, stderr } = spawnSync(process.execPath, words, { encoding: "utf8" });
    const seconds = ((performance.now() - began) / 1000).toFixed(1);
    const [, what] = /FAILED (.*)/.exec(stdout) ?? [];
    const found = status === 1 && what !== undefined;
    if (!found) missed++;
    print(
      `${found ? "found " : "MISSED"} ${seconds.padStart(6)} s  ${domain.padEnd(8)} ${name}: ${what ?? stderr}`,
    );
  }
  print(`${FAULTS.length - missed} of ${FAULTS.length} found`);
  return missed > 0 ? 1 : 0;
}
