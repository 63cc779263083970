// Requires consent before anything is written: from the user at the terminal, or with --yes.
import type { MoveWish } from "./move-wish.ts";
import { UsageError } from "../../controller/settings/config.ts";
import type { Program } from "../../run/program-context.ts";

export async function agree(what: string, { yes }: MoveWish, program: Program): Promise<void> {
  if (yes) return;
  const { stdin, stdout, stderr } = program;
  if (!stdin || stdout.isTTY !== true) {
    throw new UsageError(`nobody can be asked here whether to ${what}: --yes says so`);
  }
  stderr.write(`${what}? [y/N] `);
  for await (const chunk of stdin) {
    if (/^y(es)?$/i.test(Buffer.from(chunk).toString().trim())) return;
    break;
  }
  throw new UsageError("nothing was written");
}
