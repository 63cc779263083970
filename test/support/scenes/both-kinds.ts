// Scenarios that hold for every kind of objects, run for each from the same test code: openScene asks here
// which kind it is. On the sandbox the kinds of one scenario run beside each other: most of a scene's time is waiting.
import { test, type TestContext } from "node:test";
import { OBJECT_KINDS, type ObjectKind } from "../../../src/controller/model/kinds.ts";
import { isInBothModes, modeNames } from "./named-mode.ts";
import { ofSecrets, play, type Run } from "./scenario-end.ts";

const kinds = new WeakMap<TestContext, ObjectKind>();

type Options = {
  readonly skip?: string | false;
  /** One kind after the other: the test needs the machine for itself. */
  readonly inTurn?: true;
};

/** As test() of node:test, once for each kind. */
export function scenario(name: string, ...rest: readonly [Run] | readonly [Options, Run]): void {
  const [{ inTurn, ...options }, run]: readonly [Options, Run] =
    rest.length === 1 ? [{}, rest[0]] : rest;
  // On a shared server a selector of one scene would meet the namespaces of the other.
  const concurrency = inTurn !== true && process.env["CLUSTER_ACCESS"] === undefined;
  test(name, { concurrency, ...options }, async (t) => {
    const each = kindsOfMode(!("skip" in options)).map((kind) =>
      t.test(`of ${kind}s`, (own) => {
        kinds.set(own, kind);
        return play(own, run);
      }),
    );
    await Promise.all(each);
  });
}

// The sandbox has each kind with both rights. A real server, where one scene follows another, has Secrets with rights
// on all names. What depends on rights has two runs there: Secrets by name, which is what only RBAC can judge, and
// ConfigMaps with rights on all names. What cannot exist by name has both kinds with those.
function kindsOfMode(isPossibleByName: boolean): readonly ObjectKind[] {
  if (process.env["CLUSTER_ACCESS"] === undefined || !isPossibleByName) return OBJECT_KINDS;
  const isOfMaps = modeNames() === undefined && isInBothModes(process.argv[1] ?? "");
  return [isOfMaps ? "ConfigMap" : "Secret"];
}

/** Where the rule does not exist for other kinds; `because` says why. */
export function secretsAlone(name: string, because: string, run: Run): void {
  ofSecrets(`${name} (Secrets alone: ${because})`, run);
}

/** `open` as a scene of ConfigMaps. */
export function openMaps<T>(t: TestContext, open: (t: TestContext) => Promise<T>): Promise<T> {
  kinds.set(t, "ConfigMap");
  return open(t);
}

/** Secrets where the test does not say. */
export function kindOf(t: TestContext): ObjectKind {
  return kinds.get(t) ?? "Secret";
}
