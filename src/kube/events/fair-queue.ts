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

  /** False: something was dropped for it, or it was not taken itself. */
  push(of: string, item: T): boolean {
    const full = this.#waiting >= this.#size;
    if (full && !this.#makeRoom(of)) return false;
    const queue = this.#queues.get(of);
    if (queue) queue.push(item);
    else this.#queues.set(of, [item]);
    this.#waiting++;
    return !full;
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

  // Room for one of `of`, unless it has the most waiting itself.
  #makeRoom(of: string): boolean {
    let most = of;
    const waiting = (name: string): number => this.#queues.get(name)?.length ?? 0;
    for (const name of this.#queues.keys()) if (waiting(name) > waiting(most)) most = name;
    if (waiting(most) <= 1 || most === of) return false;
    this.#queues.get(most)?.pop();
    this.#waiting--;
    return true;
  }
}
