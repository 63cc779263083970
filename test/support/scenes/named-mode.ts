// The scenarios once more under --only-names, from the same test code: `npm run test:names`. Each file has a
// few names, which fit into one flag. What has another name does not exist for the controller.
import { basename } from "node:path";
import { rulesOf } from "../../../src/controller/model/kinds.ts";

const LIST = "secretcast-sources";

/** Of a Secret: 253 characters. */
export const LONGEST_NAME = Array.from({ length: 4 }, (_, n) => `${n}`.padEnd(63, "x"))
  .join(".")
  .slice(0, 253)
  .replace(/\.$/, "x");

/** Names of scenes besides `registry`. */
const NAMES_OF_FILES: Readonly<Record<string, readonly string[]>> = {
  events: [
    "login",
    "mine",
    "of-payroll",
    "of-token",
    "of-twin-of-payroll",
    "payroll",
    "pulled",
    "token",
    "twin-of-payroll",
    "wrong",
  ],
  kinds: [
    "app",
    "ca",
    "kube-root-ca.crt",
    "offer",
    "pulling",
    "secretcast-pull-secrets",
    "secretcast-sources",
    "to-secretcast-pull-secrets",
    "to-secretcast-sources",
  ],
  "listed-namespaces": ["first", "s", "second", "taken"],
  restore: ["db", "login"],
  "scenarios-bounds": [
    "alternatives",
    "entries",
    "exclusions",
    "keys",
    "long",
    "name",
    "names",
    "questions",
    "regex",
    "selector",
    "stars",
    "unknown",
    "wildcards",
    "word",
  ],
  "scenarios-cache": ["late", "own"],
  "scenarios-content": ["no-list", "no-match"],
  "scenarios-isolation": [
    "allow",
    "empty",
    "held",
    "json",
    "keep",
    "keys",
    "missing",
    "name",
    "paused",
    "regex",
    "selector",
    "spoilt",
    "unknown",
  ],
  "scenarios-many": ["own"],
  "scenarios-marks": [
    "adopting",
    "at-victim",
    "evil",
    "of-none",
    "none",
    "of-silent",
    "of-victim",
    "private",
    "publishing",
    "pulling",
    "renamed",
    "silent",
  ],
  "scenarios-metadata": [
    "bootstrap",
    "local-parent",
    "odd",
    "parent",
    "release",
    "token",
    LONGEST_NAME,
    LONGEST_NAME.slice(0, 63),
  ],
  "scenarios-namespaces": ["credentials"],
  "scenarios-operations": ["fresh", "own", ...numbered("s-", 20)],
  "scenarios-ownership": ["later"],
  "scenarios-pull": ["db", "later", "login", "nowhere", "token"],
  "scenarios-replicas": ["other", "own"],
  "scenarios-secrecy": [
    "forged",
    "own",
    "pulled",
    "pulled-in-vain",
    "refused",
    ...numbered("more-", 4),
  ],
  "scenarios-source-list": [
    "annotated",
    "ca",
    "fine",
    "kept",
    "later",
    "mine",
    "named",
    "own",
    "pulled",
    "secretcast-sources",
    "stolen",
    "tls",
    "told",
    "unlisted",
    "unrelated",
  ],
  "scenarios-watch": ["own"],
};

/**
 * Files that a real server has in two runs, with rights on all names and with rights by name: what they do depends on
 * lists, watches and Roles. printed-rights.test.ts shows there that no request of a controller lacks a right by name.
 */
const IN_BOTH_MODES: ReadonlySet<string> = new Set([
  "kinds",
  "listed-namespaces",
  "replication",
  "scenarios-cache",
  "scenarios-namespaces",
  "scenarios-pull",
  "scenarios-replicas",
  "scenarios-source-list",
  "scenarios-watch",
]);

export function isInBothModes(file: string): boolean {
  return IN_BOTH_MODES.has(basename(file, ".test.ts"));
}

/** Of the file that runs: the names of the mode, or undefined: all names take part. */
export function modeNames(): readonly string[] | undefined {
  if (process.env["SCENES_ONLY_NAMES"] === undefined) return undefined;
  const stem = basename(process.argv[1] ?? "", ".test.ts");
  const { reserved = [] } = rulesOf("ConfigMap", { sourceList: LIST });
  // The flag takes no name that configures secretcast.
  return ["registry", ...(NAMES_OF_FILES[stem] ?? [])].filter((name) => !reserved.includes(name));
}

/** As words of a command. */
export function modeWords(): readonly string[] {
  const names = modeNames();
  return names ? ["--only-names", names.join()] : [];
}

/** Why a scenario cannot exist in the mode, where it is on. */
export function skippedInMode(why: string): { readonly skip: string | false } {
  return { skip: process.env["SCENES_ONLY_NAMES"] !== undefined && `--only-names: ${why}` };
}

function numbered(beginning: string, count: number): readonly string[] {
  return Array.from({ length: count }, (_, at) => `${beginning}${at}`);
}
