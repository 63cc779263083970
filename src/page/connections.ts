// Decides which connections stay when there are too many. If a server refused new connections, a client could
// block the kubelet's probes by holding old ones open. A new connection is therefore always admitted, and the
// oldest one of the address with the most is closed. A Pod that opens thousands closes only its own.

/** The parts of a socket that matter here. */
export type OpenConnection = {
  readonly remoteAddress?: string | undefined;
  once(event: "close", listener: () => void): unknown;
  destroy(): unknown;
};

export class OpenConnections {
  readonly #most: number;
  /** Both are in the order of arrival. */
  readonly #byAddress = new Map<string, Set<OpenConnection>>();
  #count = 0;

  /** At most `most` stay open. */
  constructor(most: number) {
    this.#most = most;
  }

  admit(connection: OpenConnection): void {
    const address = connection.remoteAddress ?? "";
    const ofAddress = this.#byAddress.get(address) ?? new Set();
    this.#byAddress.set(address, ofAddress.add(connection));
    this.#count++;
    connection.once("close", () => this.#leave(address, connection));
    if (this.#count > this.#most) this.#closeOne();
  }

  closeAll(): void {
    for (const connections of this.#byAddress.values())
      for (const connection of connections) connection.destroy();
  }

  #closeOne(): void {
    const [first, ...others] = this.#byAddress;
    if (!first) return;
    const [address, [oldest]] = others.reduce((a, b) => (b[1].size > a[1].size ? b : a), first);
    if (!oldest) return;
    this.#leave(address, oldest);
    oldest.destroy();
  }

  #leave(address: string, connection: OpenConnection): void {
    const ofAddress = this.#byAddress.get(address);
    if (!ofAddress?.delete(connection)) return;
    this.#count--;
    if (ofAddress.size === 0) this.#byAddress.delete(address);
  }
}
