// A binary heap that can also remove an item from the middle, in O(log n).
// Promises: peek and pop return the item that `before` orders first. An item is in the heap at most once.
// Does not notice that an item changed: remove it, change it and add it again.

export class Heap<T> {
  readonly #before: (a: T, b: T) => boolean;
  readonly #items: T[] = [];
  readonly #places = new Map<T, number>();

  constructor(before: (a: T, b: T) => boolean) {
    this.#before = before;
  }

  get size(): number {
    return this.#items.length;
  }

  peek(): T | undefined {
    return this.#items[0];
  }

  push(item: T): void {
    this.#put(item, this.#items.length);
    this.#rise(this.#items.length - 1);
  }

  pop(): T | undefined {
    const first = this.#items[0];
    if (first !== undefined) this.remove(first);
    return first;
  }

  /** Returns whether the item was in the heap. */
  remove(item: T): boolean {
    const place = this.#places.get(item);
    const last = this.#items.at(-1);
    if (place === undefined || last === undefined) return false;
    this.#items.pop();
    this.#places.delete(item);
    if (last === item) return true;
    this.#put(last, place);
    this.#rise(place);
    this.#sink(this.#places.get(last) ?? place);
    return true;
  }

  clear(): void {
    this.#items.length = 0;
    this.#places.clear();
  }

  #put(item: T, place: number): void {
    this.#items[place] = item;
    this.#places.set(item, place);
  }

  #rise(start: number): void {
    for (let at = start; at > 0;) {
      const parent = (at - 1) >> 1;
      if (!this.#swapIfBefore(at, parent)) return;
      at = parent;
    }
  }

  #sink(start: number): void {
    for (let at = start; ;) {
      const child = this.#firstChild(at);
      if (!this.#swapIfBefore(child, at)) return;
      at = child;
    }
  }

  #firstChild(at: number): number {
    const left = this.#items[2 * at + 1];
    const right = this.#items[2 * at + 2];
    const takeRight = left !== undefined && right !== undefined && this.#before(right, left);
    return 2 * at + (takeRight ? 2 : 1);
  }

  /** Exchanges the items at `a` and `b` if both exist and the one at `a` belongs first. */
  #swapIfBefore(a: number, b: number): boolean {
    const itemA = this.#items[a];
    const itemB = this.#items[b];
    if (itemA === undefined || itemB === undefined || !this.#before(itemA, itemB)) return false;
    this.#put(itemA, b);
    this.#put(itemB, a);
    return true;
  }
}
