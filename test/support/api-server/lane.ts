// Loaded before each test file of `npm run test:cluster`: waits for the control plane that the file may
// use (lanes.ts), and holds it until this process ends.
import { once } from "node:events";
import { createConnection } from "node:net";
import { createInterface } from "node:readline";

const { CLUSTER_LANES, NODE_TEST_CONTEXT } = process.env;
if (CLUSTER_LANES !== undefined && NODE_TEST_CONTEXT !== undefined) {
  // Not for the programs that the test starts.
  delete process.env["CLUSTER_LANES"];
  const socket = createConnection(CLUSTER_LANES);
  await once(socket, "connect");
  socket.write(`${process.argv[1]}\n`);
  const [answer] = await once(createInterface({ input: socket }), "line");
  // A file that has control planes of its own alone runs beside the shared ones.
  if (answer !== "null") process.env["CLUSTER_ACCESS"] = String(answer);
  // Whoever started us is gone when this ends, and our control plane with it.
  socket.on("error", () => {});
  socket.unref();
}
