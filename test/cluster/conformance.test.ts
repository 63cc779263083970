// The same requests go to the sandbox and to a real API server, and both give the same answers:
// support/api-server/facts/ holds them.
import { proveFacts } from "../../packages/sandbox/testing/api-facts.ts";
import { compact, ownCluster } from "../support/api-server/cluster.ts";
import { readFileSync } from "node:fs";

proveFacts("kube-apiserver", {
  start: async () => {
    const cluster = await ownCluster();
    return {
      url: cluster.url,
      token: cluster.token,
      ca: readFileSync(cluster.caFile, "utf8"),
      quietBookmarkMs: 120_000,
      // The watch cache remembers what etcd has forgotten, so it goes as well.
      forgetHistory: () =>
        cluster.restartApiServer({ signal: "SIGKILL", whileDown: () => compact(cluster) }),
      stop: cluster.stop,
    };
  },
});
