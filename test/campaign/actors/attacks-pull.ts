// Attacks by way of pulling: what a Secret with `from` may hold and ask for.
import type { Attack } from "./tenant.ts";
import { longList, nastyGlobs, NONSENSE, renames } from "./worst-texts.ts";

const FROM = "secretcast.io/from";
const KEYS = "secretcast.io/keys";

export const PULL_ATTACKS: Readonly<Record<string, Attack>> = {
  "renames that blow up": (tenant) =>
    tenant.many(5, (at) =>
      tenant.create(tenant.home(), tenant.name(`pull-blown-${at}`), {
        metadata: {
          annotations: { [FROM]: "secretcast/consented", [KEYS]: renames("ca.crt", 1000) },
        },
      }),
    ),
  "ten thousand renames": (tenant) =>
    tenant.many(8, (at) =>
      tenant.create(tenant.home(), tenant.name(`pull-renamed-${at}`), {
        metadata: {
          annotations: { [FROM]: "secretcast/consented", [KEYS]: renames("small", 18_000) },
        },
      }),
    ),
  "globs without an end": (tenant) =>
    tenant.many(20, (at) =>
      tenant.create(tenant.home(), tenant.name(`pull-globs-${at}`), {
        metadata: {
          annotations: {
            [FROM]: "secretcast/many",
            [KEYS]: nastyGlobs(at % 2 === 0 ? 99 : 1000, at % 3 === 0),
          },
        },
      }),
    ),
  "forged records, more than the delete limit": (tenant) => {
    const home = tenant.home();
    return tenant.many(101, (at) => {
      const annotations = {
        [FROM]: ["secretcast/registry", "secretcast/payroll", "nowhere/nothing"][at % 3] ?? "",
        "secretcast.io/pulled-keys": "own",
        "secretcast.io/source-uid": "00000000-0000-4000-8000-000000000000",
        ...(at % 2 === 0 ? { "secretcast.io/entry": "payroll" } : {}),
      };
      return tenant.create(home, tenant.name(`pull-forged-${at}`), { metadata: { annotations } });
    });
  },
  "pulled-keys as long as may be": (tenant) =>
    tenant.many(60, (at) =>
      tenant.create(tenant.home(), tenant.name(`pull-long-${at}`), {
        metadata: {
          annotations: {
            [FROM]: at % 2 === 0 ? "nowhere/nothing" : "secretcast/consented",
            "secretcast.io/pulled-keys": longList(255_000),
          },
        },
      }),
    ),
  "heavy pulling Secrets": (tenant) => {
    const data = { own: tenant.value(770_000) };
    return tenant.many(60, (at) =>
      tenant.create(tenant.home(), tenant.name(`pull-heavy-${at}`), {
        metadata: { annotations: { [FROM]: at % 3 === 0 ? "secretcast/consented" : "nowhere/no" } },
        data,
      }),
    );
  },
  "from everywhere and nowhere": (tenant) =>
    tenant.many(NONSENSE.length, (at) =>
      tenant.create(tenant.home(), tenant.name(`pull-nonsense-${at}`), {
        metadata: { annotations: { [FROM]: NONSENSE[at] ?? "", [KEYS]: "*" } },
      }),
    ),
  "hundreds that pull": async (tenant) => {
    const home = tenant.home();
    await tenant.many(120, (at) =>
      tenant.create(home, tenant.name(`pull-${at}`), {
        metadata: { annotations: { [FROM]: "secretcast/consented", [KEYS]: "small" } },
      }),
    );
    await tenant.loop(20, 2, (at) =>
      tenant.change(home, tenant.name(`pull-${at % 120}`), { data: { small: tenant.value() } }),
    );
  },
  "a pulling Secret that flaps": async (tenant) => {
    const home = tenant.home();
    await tenant.create(home, tenant.name("pull-flapping"));
    await tenant.loop(20, 2, (at) =>
      tenant.change(home, tenant.name("pull-flapping"), {
        metadata: {
          annotations: {
            [FROM]: at % 2 === 0 ? "secretcast/consented" : null,
            [KEYS]: at % 3 === 0 ? "small" : "*",
            "secretcast.io/pulled-keys": at % 5 === 0 ? longList(100_000) : null,
          },
        },
      }),
    );
  },
};
