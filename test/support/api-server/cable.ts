// A cable of its own between one client and an API server, cut in the ways in which networks are. It
// knows nothing of TLS or HTTP. The server sees the client at an address of its own on loopback, by
// which its audit log tells replicas of one account apart.
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import type { Ending } from "../../../packages/kube/testing/fault-proxy.ts";

export type CableState =
  | "whole"
  /** Nothing passes either way; what was sent meanwhile arrives once it is whole, unless it was reset. */
  | "silent"
  /** Requests arrive, and no answer comes back. */
  | "answers lost"
  /** What the server says comes, and nothing reaches it. */
  | "requests lost"
  /** Every connection is reset, and so is each new one. */
  | "refused";

export type Cable = {
  readonly url: string;
  /** The address at which the server sees the client. */
  readonly from: string;
  state: CableState;
};

/** One direction of a connection: what comes while it is cut waits, and is gone when it is reset. */
class Direction {
  readonly #to: Socket;
  #waiting: Buffer[] = [];
  #ended = false;
  #open = true;

  constructor(from: Socket, to: Socket) {
    this.#to = to;
    from.on("data", (chunk: Buffer) => {
      if (this.#open) to.write(chunk);
      else this.#waiting.push(chunk);
    });
    from.on("end", () => this.#end());
    from.on("error", () => {
      this.#waiting = [];
      this.#end();
    });
  }

  set open(open: boolean) {
    this.#open = open;
    if (!open) return;
    for (const chunk of this.#waiting.splice(0)) this.#to.write(chunk);
    if (this.#ended) this.#to.end();
  }

  #end(): void {
    this.#ended = true;
    if (this.#open) this.#to.end();
  }
}

class Pair {
  readonly client: Socket;
  readonly server: Socket;
  readonly #requests: Direction;
  readonly #answers: Direction;

  constructor(client: Socket, server: Socket) {
    this.client = client;
    this.server = server;
    this.#requests = new Direction(client, server);
    this.#answers = new Direction(server, client);
  }

  set state(state: CableState) {
    if (state === "refused") {
      this.client.resetAndDestroy();
      this.server.destroy();
      return;
    }
    this.#requests.open = state === "whole" || state === "answers lost";
    this.#answers.open = state === "whole" || state === "requests lost";
  }
}

/** Gone, with all its connections, when the test ends. */
export async function layCable(t: Ending, to: string, from: string): Promise<Cable> {
  const { hostname, port } = new URL(to);
  const pairs = new Set<Pair>();
  let state: CableState = "whole";
  const listener = createServer({ allowHalfOpen: true }, (client) => {
    const address = { host: hostname, port: Number(port), localAddress: from };
    const pair = new Pair(client, connect({ ...address, allowHalfOpen: true }));
    pairs.add(pair);
    client.once("close", () => {
      if (state === "whole") pairs.delete(pair);
    });
    pair.state = state;
  });
  await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
  t.after(async () => {
    for (const { client, server } of pairs) {
      client.destroy();
      server.destroy();
    }
    await new Promise<void>((resolve) => listener.close(() => resolve()));
  });
  return {
    url: `https://127.0.0.1:${(listener.address() as AddressInfo).port}`,
    from,
    get state() {
      return state;
    },
    set state(next) {
      state = next;
      for (const pair of pairs) pair.state = next;
    },
  };
}
