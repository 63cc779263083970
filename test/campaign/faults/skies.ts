// What networks, proxies and overloaded servers do, a second at a time and at random.
import type {
  Fault,
  FaultProxy,
  ProxyRequest,
} from "../../../packages/kube/testing/fault-proxy.ts";
import { refusal } from "../../support/scenes/proxied.ts";
import { pick } from "../../../packages/kube/testing/random.ts";

type Weather = readonly [name: string, begin: () => void];
type Kinds = readonly ProxyRequest["kind"][];

const WATCHES: Kinds = ["watch", "stream"];
const LISTS: Kinds = ["list"];
const ALL: Kinds = ["watch", "stream", "list", "other"];
const HTML: Fault = {
  kind: "answer",
  status: 200,
  headers: { "content-type": "text/html" },
  body: "<html>log in</html>",
};

export class Skies {
  readonly #proxy: FaultProxy;
  readonly #chance: () => number;
  /** Nothing is heard on a frozen connection for minutes: only for runs that last as long. */
  readonly #silence: boolean;
  /** How often each kind was sent. */
  readonly sent = new Map<string, number>();

  constructor(proxy: FaultProxy, chance: () => number, silence: boolean) {
    this.#proxy = proxy;
    this.#chance = chance;
    this.#silence = silence;
  }

  /** Another weather until the next call. */
  change(): void {
    this.#proxy.rule = () => undefined;
    const [name, begin] = pick(this.#chance, this.#kinds());
    begin();
    this.sent.set(name, (this.sent.get(name) ?? 0) + 1);
  }

  clear(): void {
    this.#proxy.rule = () => undefined;
  }

  #kinds(): readonly [Weather, ...Weather[]] {
    const proxy = this.#proxy;
    const cut = (): Fault => ({ kind: "cut", afterBytes: Math.floor(this.#chance() * 2000) });
    const silence: Fault = { kind: "silence", afterBytes: 100 };
    const slowDown = { ...refusal(429, "TooManyRequests"), headers: { "retry-after": "1" } };
    const inStream = { type: "ERROR", object: { kind: "Status", code: 410, reason: "Expired" } };
    const expire = (): void => proxy.inject(`${JSON.stringify(inStream)}\n`);
    const weathers: readonly [Weather, ...Weather[]] = [
      ["fine", () => {}],
      ["reset of all connections", () => proxy.resetAll()],
      ["watches cut inside a line", () => this.#rain(WATCHES, 1, cut, () => proxy.resetAll())],
      ["answers lost", () => this.#rain(["other"], 0.3, () => ({ kind: "cut", afterBytes: 0 }))],
      ["requests reset", () => this.#rain(ALL, 0.5, () => ({ kind: "reset" }))],
      ["410 at opening", () => this.#rain(WATCHES, 1, () => refusal(410, "Expired"), expire)],
      ["410 in the stream", expire],
      ["429 with Retry-After", () => this.#rain(ALL, 0.5, () => slowDown)],
      ["500s", () => this.#rain(ALL, 0.7, () => refusal(500, "InternalError"))],
      ["503s", () => this.#rain(ALL, 0.7, () => refusal(503, "ServiceUnavailable"))],
      ["slow bodies", () => this.#rain(ALL, 1, () => ({ kind: "slow", bytes: 50 }))],
      ["garbage in the stream", () => proxy.inject('{"type":"ADDED","object":{"no"\n')],
      ["login pages", () => this.#rain(ALL, 0.7, () => HTML)],
      ["answers that are no list", () => this.#rain(LISTS, 1, () => answer({}), expire)],
      [
        "no streaming lists",
        () => this.#rain(["stream"], 1, () => refusal(422, "Invalid"), expire),
      ],
      ["small pages that expire", () => this.#rain(LISTS, 1, (asked) => this.#page(asked), expire)],
    ];
    if (!this.#silence) return weathers;
    return [
      ...weathers,
      ["all connections silent", () => proxy.freeze()],
      ["new connections silent", () => this.#rain(ALL, 0.2, () => silence)],
    ];
  }

  /** Requests of these kinds get the fault with this likelihood; `now` makes for new ones. */
  #rain(
    kinds: Kinds,
    likelihood: number,
    fault: (asked: ProxyRequest) => Fault,
    now: () => void = () => {},
  ): void {
    this.#proxy.rule = (asked) =>
      kinds.includes(asked.kind) && this.#chance() < likelihood ? fault(asked) : undefined;
    now();
  }

  #page({ query }: ProxyRequest): Fault {
    if (query.has("continue") && this.#chance() < 0.3) return refusal(410, "Expired");
    return { kind: "rewrite", query: query.has("limit") ? { limit: "7" } : {} };
  }
}

function answer(body: object): Fault {
  return { kind: "answer", status: 200, body };
}
