// The sandbox answers every fact that was proved on a real API server:
// support/api-server/facts/ holds them.
import { startSandbox } from "./server.ts";
import { proveFacts } from "./testing/api-facts.ts";

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
