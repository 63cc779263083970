// The Dockerfile, read as words: its stages, and what they copy.
import { cpSync, mkdirSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));

export type Stage = {
  readonly image: string;
  readonly name: string | undefined;
  readonly steps: readonly Step[];
};
type Step = { readonly word: string; readonly rest: string };

export function readStages(): readonly Stage[] {
  const lines = readFileSync(join(ROOT, "Dockerfile"), "utf8")
    .replaceAll(/^#.*\n/gm, "")
    .replaceAll(/\\\n\s*/g, "")
    .split("\n");
  const stages: (Stage & { steps: Step[] })[] = [];
  for (const line of lines.filter((each) => each.trim() !== "")) {
    const [word = "", ...words] = line.split(/\s+/);
    if (word === "FROM") stages.push({ image: words[0] ?? "", name: words[2], steps: [] });
    else stages.at(-1)?.steps.push({ word, rest: words.join(" ") });
  }
  return stages;
}

type Copy = {
  readonly from: string | undefined;
  readonly sources: readonly string[];
  readonly to: string;
};

export function copies({ steps }: Stage): readonly Copy[] {
  return steps
    .filter(({ word }) => word === "COPY")
    .map(({ rest }) => {
      const given = rest.split(" ");
      const paths = given.filter((each) => !each.startsWith("--"));
      const from = given.find((each) => each.startsWith("--from="))?.slice("--from=".length);
      return { from, sources: paths.slice(0, -1), to: paths.at(-1) ?? "" };
    });
}

/** Makes what the stage copies from the clone, and no other file, in the folder. */
export function copyContext(of: Stage, folder: string): void {
  for (const { from, sources, to } of copies(of))
    for (const source of from === undefined ? sources : []) {
      const target = to.endsWith("/") ? join(to, basename(source)) : to;
      mkdirSync(dirname(join(folder, target)), { recursive: true });
      cpSync(join(ROOT, source), join(folder, target), { recursive: true });
    }
}
