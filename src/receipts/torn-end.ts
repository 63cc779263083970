// Whether a file ends in the middle of a line. A process that is killed on a full disk leaves it so, and the next
// line must not become a part of that one.
import { constants } from "node:fs";
import { open, stat } from "node:fs/promises";

export const NEWLINE = 10;

/** Undefined means that it is not known: the file may not be read, or it is no regular file. */
export async function isTorn(path: string): Promise<boolean | undefined> {
  try {
    // Opening a pipe would make this process its reader.
    if (!(await stat(path)).isFile()) return undefined;
    return ((await lastByte(path)) ?? NEWLINE) !== NEWLINE;
  } catch {
    return undefined;
  }
}

/** Undefined means that the file is empty. */
async function lastByte(path: string): Promise<number | undefined> {
  const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const { size } = await handle.stat();
    if (size === 0) return undefined;
    const { buffer } = await handle.read(Buffer.alloc(1), 0, 1, size - 1);
    return buffer[0];
  } finally {
    await handle.close();
  }
}
