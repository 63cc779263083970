// The sandbox answers every fact that was proved on a real API server:
// support/api-server/facts/ holds them.
import { startSandbox } from "../../src/sandbox/server.ts";
import { proveFacts } from "../support/api-server/api-facts.ts";

const quietBookmarkMs = 1500;

proveFacts("sandbox", {
  start: async () => {
    const sandbox = await startSandbox({ quietBookmarkMs });
    return {
      url: sandbox.url,
      quietBookmarkMs,
      forgetHistory: async () => sandbox.compact(),
      stop: () => sandbox.stop(),
    };
  },
});
