// The `kubectl patch` and `kubectl delete` commands that a move prints, carried out on objects in memory as
// an API server does: a JSON patch whose test fails changes nothing.
import assert from "node:assert/strict";

type Raw = Readonly<Record<string, unknown>>;
type OfAKind = { readonly kind: string };
type Operation = { readonly op: string; readonly path: string; readonly value?: unknown };

const COMMAND =
  /kubectl (patch|delete) (\w+)\.[\w.]+ ([\w.-]+)(?: -n ([\w-]+))?(?: --type=json -p '([^']*)')?/g;

/** The objects after all commands in `text`. */
export function applied<T extends OfAKind>(objects: readonly T[], text: string): readonly T[] {
  let now = objects;
  const commands = [...text.matchAll(COMMAND)];
  assert.ok(commands.length > 0, text);
  for (const [command, verb, kind, name, , patch = "[]"] of commands) {
    const found = now.find((one) => one.kind.toLowerCase() === kind && nameOf(one) === name);
    assert.ok(found, command);
    const operations: readonly Operation[] = JSON.parse(patch);
    const changed = verb === "delete" ? [] : [patched(found, operations)];
    now = now.flatMap((one) => (one === found ? changed : [one]));
  }
  return now;
}

function nameOf(object: OfAKind): unknown {
  return (object as { readonly metadata?: Raw }).metadata?.["name"];
}

function patched<T extends OfAKind>(object: T, operations: readonly Operation[]): T {
  const copy = structuredClone(object);
  for (const { op, path, value } of operations) {
    const keys = path.split("/").slice(1);
    const last = keys.pop() ?? "";
    let at: unknown = copy;
    for (const key of keys) at = (at as Raw)[key];
    assert.ok(typeof at === "object" && at !== null, `${path} is there`);
    const parent = at as Record<string, unknown>;
    if (op === "test") assert.deepEqual(parent[last], value, path);
    else if (op === "add" || op === "replace") parent[last] = value;
    else if (op === "remove" && Array.isArray(at)) at.splice(Number(last), 1);
    else assert.fail(op);
  }
  return copy;
}
