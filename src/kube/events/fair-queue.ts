// What waits to be sent, a queue a namespace, which take turns: who has much to say keeps nobody else
// waiting. Full, it drops the newest of whoever has the most waiting.
export class FairQueue<T> {
  readonly #size: number;
  /** In the order of their turns; none is empty. */
  readonly #queues = new Map<string, T[]>();
  #waiting = 0;

  constructor(size: number) {
    this.#size = size;
  }

  /** What was dropped for it, or the item itself if it was not taken; undefined: nothing. */
  push(of: string, item: T): T | undefined {
    const full = this.#waiting >= this.#size;
    const dropped = full ? this.#makeRoom(of) : undefined;
    if (full && dropped === undefined) return item;
    const queue = this.#queues.get(of);
    if (queue) queue.push(item);
    else this.#queues.set(of, [item]);
    this.#waiting++;
    return dropped;
  }

  /** The oldest of whose turn it is. */
  shift(): T | undefined {
    const [turn] = this.#queues;
    if (!turn) return undefined;
    const [of, queue] = turn;
    const item = queue.shift();
    this.#waiting--;
    this.#queues.delete(of);
    if (queue.length > 0) this.#queues.set(of, queue);
    return item;
  }

  // Room for one of `of`, unless it has the most waiting itself; what was dropped.
  #makeRoom(of: string): T | undefined {
    let most = of;
    const waiting = (name: string): number => this.#queues.get(name)?.length ?? 0;
    for (const name of this.#queues.keys()) if (waiting(name) > waiting(most)) most = name;
    if (waiting(most) <= 1 || most === of) return undefined;
    this.#waiting--;
    return this.#queues.get(most)?.pop();
  }
}
