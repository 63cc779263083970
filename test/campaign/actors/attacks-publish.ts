// Attacks by way of publishing, which means something only where every namespace may publish. Else
// they are annotations that the controller must pass over.
import type { Attack } from "./tenant.ts";
import { longList, longSelector, manyKeys, nastyGlobs, renames } from "./worst-texts.ts";

const TO = "secretcast.io/to";
const word = (name: string, value: string) => ({ [`secretcast.io/${name}`]: value });

export const PUBLISH_ATTACKS: Readonly<Record<string, Attack>> = {
  "heavy sources for everybody": (tenant) => {
    const data = { own: tenant.value(900_000) };
    return tenant.many(10, (at) =>
      tenant.create(tenant.home(), tenant.name(`source-heavy-${at}`), {
        metadata: { annotations: { [TO]: "*" } },
        data,
      }),
    );
  },
  "sources that blow up": (tenant) => {
    const data = { big: tenant.value(700_000) };
    return tenant.many(5, (at) =>
      tenant.create(tenant.home(), tenant.name(`source-blown-${at}`), {
        metadata: { annotations: { [TO]: "*", ...word("keys", renames("big", 200)) } },
        data,
      }),
    );
  },
  "sources with globs without an end": (tenant) =>
    tenant.many(60, (at) =>
      tenant.create(tenant.home(), tenant.name(`source-globs-${at}`), {
        metadata: {
          annotations: {
            [TO]: nastyGlobs(at % 2 === 0 ? 99 : 1500),
            ...word("copy-labels", nastyGlobs(99)),
            ...word("copy-annotations", nastyGlobs(99)),
            ...manyKeys(500),
          },
        },
      }),
    ),
  "selectors as long as may be": (tenant) =>
    tenant.many(20, (at) =>
      tenant.create(tenant.home(), tenant.name(`source-selector-${at}`), {
        metadata: { annotations: word("to-selector", longSelector(at % 2 === 0 ? 5000 : 200_000)) },
      }),
    ),
  "lists as long as may be": (tenant) =>
    tenant.many(20, (at) =>
      tenant.create(tenant.home(), tenant.name(`source-long-${at}`), {
        metadata: { annotations: { [TO]: `*,${longList(at % 2 === 0 ? 60_000 : 250_000)}` } },
      }),
    ),
  "the platform's names": (tenant) =>
    tenant.many(8, (at) => {
      const name = ["registry", "tls", "config", "own"][at % 4] ?? "registry";
      return tenant.create(tenant.home(), tenant.name(`source-named-${at}`), {
        metadata: { annotations: { [TO]: "*", ...word("name", name) } },
      });
    }),
  "words that mean nothing": (tenant) =>
    tenant.many(10, (at) =>
      tenant.create(tenant.home(), tenant.name(`source-strange-${at}`), {
        metadata: {
          annotations: { [TO]: "*", ...word(at % 2 === 0 ? "to-selecter" : "allow", "") },
        },
      }),
    ),
  "sources that flap": async (tenant) => {
    const home = tenant.home();
    await tenant.create(home, tenant.name("source-flapping"), {
      metadata: { annotations: { [TO]: "*" } },
    });
    await tenant.loop(20, 2, (at) =>
      tenant.change(home, tenant.name("source-flapping"), {
        metadata: {
          annotations: { [TO]: at % 3 === 0 ? null : "*", ...word("name", `n${at % 5}`) },
        },
        data: { own: tenant.value() },
      }),
    );
  },
};
