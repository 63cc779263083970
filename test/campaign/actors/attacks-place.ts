// Attacks on places: on the copies in the tenant's namespaces, and by Secrets that look like copies.
import { field } from "../../support/api-server/http.ts";
import type { Attack, SecretBody, Tenant } from "./tenant.ts";
import { collidingNames, longName, NONSENSE } from "./worst-texts.ts";

const NOBODY = "00000000-0000-4000-8000-000000000000";
const MANAGED = { "app.kubernetes.io/managed-by": "secretcast" };
const COPIES = ["registry", "tls"] as const;
/** One more than --delete-limit by default. */
const MORE_THAN_THE_LIMIT = 101;

/** What makes a Secret one of the controller's own. */
function marked(namespace: string, name: string, source: string, uid: string): SecretBody {
  const annotations = {
    "secretcast.io/source": source,
    "secretcast.io/source-uid": uid,
    "secretcast.io/placed-at": `${namespace}/${name}`,
    "secretcast.io/source-version": "1",
  };
  return { metadata: { labels: MANAGED, annotations } };
}

function annotated(body: SecretBody, annotations: Readonly<Record<string, string>>): SecretBody {
  const { metadata } = body;
  return {
    ...body,
    metadata: { ...metadata, annotations: { ...metadata?.annotations, ...annotations } },
  };
}

/** The UID of the source of the copy called registry, which its tenant can read. */
async function sourceUid(tenant: Tenant, namespace: string): Promise<string> {
  const answer = await tenant.get(namespace, "registry");
  const uid = field(answer?.body, "metadata", "annotations", "secretcast.io/source-uid");
  return typeof uid === "string" ? uid : NOBODY;
}

/** In place of a copy: it is deleted, and this is there before the next one, or is tried to be. */
async function instead(tenant: Tenant, name: string, body: SecretBody): Promise<void> {
  const home = tenant.home();
  for (let tries = 0; tries < 5 && !tenant.stopped; tries++) {
    const [, made] = await Promise.all([
      tenant.remove(home, name),
      tenant.create(home, name, body),
    ]);
    if (made?.status === 201) return;
  }
}

export const PLACE_ATTACKS: Readonly<Record<string, Attack>> = {
  "forged copies": async (tenant) => {
    const home = tenant.home();
    const uid = await sourceUid(tenant, home);
    await tenant.many(40, (at) => {
      const source =
        ["secretcast/registry", "secretcast/consented", "nowhere/nothing"][at % 3] ?? "";
      const body = marked(home, tenant.name(`forged-${at}`), source, at % 2 === 0 ? uid : NOBODY);
      const kept = at % 5 === 0 ? { "secretcast.io/on-delete": "keep" } : {};
      return tenant.create(home, tenant.name(`forged-${at}`), annotated(body, kept));
    });
  },
  "one forged copy of a source that never was": (tenant) =>
    tenant.many(1, () => {
      const home = tenant.home();
      const name = `forged-alone-${Math.floor(tenant.chance() * 1e6)}`;
      return tenant.create(home, name, marked(home, name, `secretcast/${name}`, NOBODY));
    }),
  "forged copies of a living source, more than the delete limit": async (tenant) => {
    const home = tenant.home();
    const uid = await sourceUid(tenant, home);
    await tenant.many(MORE_THAN_THE_LIMIT, (at) => {
      const name = tenant.name(`unwanted-${at}`);
      return tenant.create(home, name, marked(home, name, "secretcast/registry", uid));
    });
  },
  "forged copies whose names collide under an unkeyed hash": async (tenant) => {
    const home = tenant.home();
    for (const name of collidingNames(tenant.name("crafted"), 100))
      await tenant.create(
        home,
        name,
        annotated(marked(home, name, "secretcast/registry", NOBODY), {
          "secretcast.io/unheard-of": "x",
        }),
      );
  },
  "owners that do not exist put on copies": (tenant) =>
    tenant.many(4, (at) => {
      const owner = { apiVersion: "v1", kind: "ConfigMap", name: "nobody", uid: NOBODY };
      return tenant.change(tenant.home(), COPIES[at % 2] ?? "tls", {
        metadata: { ownerReferences: [owner] },
      });
    }),
  "forged copies of the wrong place": async (tenant) => {
    const home = tenant.home();
    const uid = await sourceUid(tenant, home);
    await tenant.many(20, (at) => {
      const name = tenant.name(`elsewhere-${at}`);
      const body = marked(home, at % 2 === 0 ? name : "registry", "secretcast/registry", uid);
      const wrong = [
        { "secretcast.io/placed-at": "honest-0/registry" },
        { "secretcast.io/unheard-of": "x" },
        { "secretcast.io/from": "secretcast/consented" },
        { "secretcast.io/source": `${home}/own` },
        { "secretcast.io/source-uid": "" },
      ][at % 5];
      return tenant.create(home, name, annotated(body, wrong ?? {}));
    });
  },
  "heavy forged copies": (tenant) => {
    const data = { own: tenant.value(1_000_000) };
    const home = tenant.home();
    return tenant.many(40, (at) => {
      const name = tenant.name(`forged-heavy-${at}`);
      return tenant.create(home, name, {
        ...marked(home, name, "secretcast/registry", NOBODY),
        data,
      });
    });
  },
  "marks stripped": (tenant) =>
    tenant.many(4, (at) => {
      const lost = ["source", "source-uid", "placed-at", "source-version"][at] ?? "source";
      const annotations = { [`secretcast.io/${lost}`]: null };
      return tenant.change(tenant.home(), COPIES[at % 2] ?? "tls", { metadata: { annotations } });
    }),
  "adopt with nonsense": async (tenant) => {
    const home = tenant.home();
    for (const text of NONSENSE.slice(0, 8)) {
      await tenant.remove(home, "registry");
      const annotations = { "secretcast.io/adopt": text };
      await tenant.create(home, "registry", { metadata: { annotations } });
      await tenant.change(home, "registry", { metadata: { annotations, labels: { x: "y" } } });
    }
    await tenant.many(NONSENSE.length, (at) => {
      const metadata = { annotations: { "secretcast.io/adopt": NONSENSE[at] ?? "" } };
      return tenant.create(home, tenant.name(`adopt-${at}`), { metadata });
    });
  },
  "a Helm release in the way": (tenant) =>
    instead(tenant, "registry", { type: "helm.sh/release.v1" }),
  "names of Helm releases": (tenant) =>
    tenant.many(20, (at) =>
      tenant.create(tenant.home(), tenant.name(`sh.helm.release.v1.app.v${at}`), {
        type: "helm.sh/release.v1",
        metadata: { annotations: { "secretcast.io/to": "*" } },
      }),
    ),
  "an account's token in the way": (tenant) =>
    instead(tenant, "tls", {
      type: "kubernetes.io/service-account-token",
      metadata: { annotations: { "kubernetes.io/service-account.name": "default" } },
    }),
  "an immutable stranger in the way": (tenant) => instead(tenant, "tls", { immutable: true }),
  "an immutable copy of the wrong type": async (tenant) => {
    const home = tenant.home();
    const body = marked(home, "registry", "secretcast/registry", await sourceUid(tenant, home));
    for (let tries = 0; tries < 5; tries++) {
      await tenant.remove(home, "registry");
      await tenant.create(home, "registry", { ...body, type: "example.com/x", immutable: true });
    }
  },
  "finalizers on copies": async (tenant) => {
    const home = tenant.home();
    for (const name of COPIES) {
      await tenant.change(home, name, { metadata: { finalizers: ["example.com/never"] } });
      await tenant.remove(home, name);
    }
    await tenant.loop(4, 2, (at) =>
      tenant.change(home, "registry", { metadata: { labels: { turn: String(at) } } }),
    );
    await tenant.change(home, "registry", { metadata: { finalizers: null } });
  },
  "copies edited in a loop": (tenant) => {
    const home = tenant.home();
    return tenant.loop(20, 3, (at) =>
      tenant.change(home, COPIES[at % 2] ?? "tls", { data: { own: tenant.value() } }),
    );
  },
  "copies deleted in a loop": (tenant) => {
    const home = tenant.home();
    return tenant.loop(20, 3, (at) => tenant.remove(home, COPIES[at % 2] ?? "tls"));
  },
  "a forged copy rewritten faster than it is deleted": async (tenant) => {
    const home = tenant.home();
    const busy = tenant.name("forged-busy");
    await tenant.create(home, busy, marked(home, busy, "nowhere/x", NOBODY));
    await tenant.loop(20, 3, (at) =>
      tenant.change(home, busy, { metadata: { labels: { turn: String(at) } } }),
    );
  },
  "annotations and labels that flap": async (tenant) => {
    const home = tenant.home();
    const flapping = tenant.name("flapping");
    await tenant.create(home, flapping);
    const forms: readonly SecretBody[] = [
      marked(home, flapping, "secretcast/registry", NOBODY),
      { metadata: { annotations: { "secretcast.io/source-uid": null, "secretcast.io/to": "*" } } },
      { metadata: { annotations: { "secretcast.io/from": "secretcast/consented" } } },
      { metadata: { annotations: { "secretcast.io/from": null, "secretcast.io/to": null } } },
      { metadata: { labels: { "app.kubernetes.io/managed-by": null } } },
    ];
    await tenant.loop(20, 3, (at) => tenant.change(home, flapping, forms[at % forms.length] ?? {}));
  },
  "Secrets made and deleted twenty times a second": (tenant) => {
    const home = tenant.home();
    return tenant.loop(20, 3, async (at) => {
      const name = longName(`churn-${at % 10}`);
      await tenant.create(home, name, at % 2 === 0 ? marked(home, name, "a/b", NOBODY) : {});
      await tenant.remove(home, name);
    });
  },
  "strangers of every size": (tenant) => {
    const data = { own: tenant.value(1_000_000) };
    return tenant.many(60, (at) =>
      tenant.create(tenant.home(), tenant.name(`stranger-${at}`), at % 6 === 0 ? { data } : {}),
    );
  },
  "everything deleted": (tenant) => tenant.wipe(true),
};
