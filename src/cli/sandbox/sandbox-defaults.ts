// The flags of `run` whose default in the sandbox is another one: what the sandbox starts with, and what its help says.
import type { FlagValues } from "../../controller/settings/config.ts";

/** Somebody who tries it sees that copies are removed. The controller's Deployment in the example has it too. */
export const QUICK: FlagValues = { "delete-hold": "10s" };

export const SANDBOX_DEFAULTS: FlagValues = {
  "http-address": "127.0.0.1:0",
  "status-address": "127.0.0.1:0",
  "log-level": "warn",
  "log-format": "pretty",
  ...QUICK,
};
