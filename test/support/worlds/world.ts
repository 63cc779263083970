// Clusters as other replicators really left them (recorded; values replaced by short ones that are equal
// where the recorded ones were), and which of their objects a move may adopt.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import {
  OLD_TOOLS,
  RETIRED_TOOLS,
  type OldToolName,
} from "../../../src/migrate/oldtools/old-tool.ts";

/** That of reflector is by its documents and its source, the others were recorded. */
export const WORLDS: readonly OldToolName[] = [...OLD_TOOLS, ...RETIRED_TOOLS];
export type WorldName = OldToolName;

export type WorldObject = {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly deletionTimestamp?: string;
    readonly ownerReferences?: readonly unknown[];
  };
  readonly type?: string;
  readonly immutable?: boolean;
  readonly data?: Readonly<Record<string, string>>;
};

/** `-`: of a kind that does not move. */
export type WorldVerdict = {
  readonly object: string;
  readonly adopt: "yes" | "no" | "may" | "-";
  readonly pull: boolean;
};

export function worldObjects(name: WorldName): readonly WorldObject[] {
  return lines(`${name}.jsonl`).map((line): WorldObject => JSON.parse(line));
}

export function worldVerdicts(name: WorldName): readonly WorldVerdict[] {
  return lines(`${name}.verdicts.jsonl`).map((line): WorldVerdict => JSON.parse(line));
}

function lines(file: string): readonly string[] {
  const text = readFileSync(join(import.meta.dirname, file), "utf8");
  return text.split("\n").filter((line) => line !== "");
}
