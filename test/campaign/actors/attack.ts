// What attacks are made of: Secrets of the tenant's, by the dozen or in turns.
import { field } from "../../../packages/sandbox/testing/http.ts";
import { prefixed } from "./actors.ts";
import type { Attack, SecretBody, Tenant } from "./tenant.ts";

export const NOBODY = "00000000-0000-4000-8000-000000000000";

/** One of many Secrets of an attack. */
type One = {
  readonly tenant: Tenant;
  readonly at: number;
  readonly home: string;
  readonly name: string;
  /** The UID of the source of the copy called registry, which its tenant can read. */
  readonly uid: string;
};

/** Annotations of ours; null takes one off. */
export function says(
  words: Readonly<Record<string, string | null>>,
  body: SecretBody = {},
): SecretBody {
  const annotations = { ...body.metadata?.annotations, ...prefixed(words) };
  return { ...body, metadata: { ...body.metadata, annotations } };
}

/** What makes a Secret one of the controller's own. */
export function marked(home: string, name: string, source: string, uid: string): SecretBody {
  const words = {
    source,
    "source-uid": uid,
    "placed-at": `${home}/${name}`,
    "source-version": "1",
  };
  return says(words, { metadata: { labels: { "app.kubernetes.io/managed-by": "secretcast" } } });
}

/** So many new Secrets, of names that only this turn has. */
export function made(count: number, named: string, body: (one: One) => SecretBody): Attack {
  return async (tenant) => {
    const uid = await sourceUid(tenant);
    await tenant.many(count, (at) => {
      const [home, name] = [tenant.home(), tenant.name(`${named}-${at}`)];
      return tenant.create(home, name, body({ tenant, at, home, name, uid }));
    });
  };
}

/** One new Secret, which is changed twenty times a second. */
export function flapping(
  named: string,
  first: (one: Omit<One, "at" | "uid">) => SecretBody,
  change: (at: number, one: Omit<One, "at" | "uid">) => SecretBody,
): Attack {
  return async (tenant) => {
    const one = { tenant, home: tenant.home(), name: tenant.name(named) };
    await tenant.create(one.home, one.name, first(one));
    await tenant.loop(20, 3, (at) => tenant.change(one.home, one.name, change(at, one)));
  };
}

/** In place of a copy: it is deleted, and this is there before the next one, or is tried to be. */
export function instead(name: string, body: SecretBody): Attack {
  return async (tenant) => {
    const home = tenant.home();
    for (let tries = 0; tries < 5 && !tenant.stopped; tries++) {
      const [, created] = await Promise.all([
        tenant.remove(home, name),
        tenant.create(home, name, body),
      ]);
      if (created?.status === 201) return;
    }
  };
}

export async function sourceUid(tenant: Tenant): Promise<string> {
  const answer = await tenant.get(tenant.home(), "registry");
  const uid = field(answer?.body, "metadata", "annotations", "secretcast.io/source-uid");
  return typeof uid === "string" ? uid : NOBODY;
}
