// Everything that the tenant's account can write, as attacks of a few seconds each with a bound. They
// leave what they wrote where it is; Tenant.wipe ends it when it has become much.
import { PLACE_ATTACKS } from "./attacks-place.ts";
import { PULL_ATTACKS } from "./attacks-pull.ts";
import { PUBLISH_ATTACKS } from "./attacks-publish.ts";
import type { Attack } from "./tenant.ts";

export const ATTACKS: Readonly<Record<string, Attack>> = {
  ...PLACE_ATTACKS,
  ...PULL_ATTACKS,
  ...PUBLISH_ATTACKS,
};
