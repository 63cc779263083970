// A queue for each namespace. The namespaces take turns, so that a namespace with many items does not delay the
// others. A full queue drops the newest item of the namespace with the most.
export class FairQueue<T> {
  readonly #size: number;
  /** In the order of their turns. None of them is empty. */
  readonly #queues = new Map<string, T[]>();
  #waiting = 0;

  constructor(size: number) {
    this.#size = size;
  }

  /** Returns the item that was dropped to make room, or `item` itself if it was not accepted. */
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

  /** The oldest item of the namespace whose turn it is. */
  shift(): T | undefined {
    const [next] = this.#queues;
    if (!next) return undefined;
    const [of, queue] = next;
    const item = queue.shift();
    this.#waiting--;
    this.#queues.delete(of);
    if (queue.length > 0) this.#queues.set(of, queue);
    return item;
  }

  // Makes room for an item of `of`, unless that namespace has the most itself. Returns the dropped item.
  #makeRoom(of: string): T | undefined {
    let most = of;
    const waiting = (name: string): number => this.#queues.get(name)?.length ?? 0;
    for (const name of this.#queues.keys()) if (waiting(name) > waiting(most)) most = name;
    if (waiting(most) <= 1 || most === of) return undefined;
    this.#waiting--;
    return this.#queues.get(most)?.pop();
  }
}
