// One request and its whole answer, through undici's dispatch handlers: its request() makes a stream
// of every answer, which an answer of a kilobyte does not need.
// Promises: settles once; when the deadline is over it rejects at once, also while the request waits
// for a connection, and nothing of it is sent from then on; nothing is sent of what is not permitted at
// the moment of its first byte; a body longer than the limit is not read on and takes its connection
// with it.
import type { IncomingHttpHeaders } from "node:http";
import type { Dispatcher } from "undici";
import { isSuccess, LONGEST_ANSWER_BYTES, LONGEST_REFUSAL_BYTES, readText } from "./response.ts";
import type { HttpResponse } from "./response.ts";
import { LARGE_ANSWER_BYTES, type AnswerTurn } from "./large-answers.ts";
import type { Deadline } from "../time/deadline.ts";

/** What bounds a request besides its deadline. */
export type RoundTripBounds = {
  /** Of the answer's body. */
  readonly mostBytes?: number;
  /** Asked when its first byte is about to be sent. */
  readonly permitted?: () => boolean;
  /** Among the large answers of the client; absent: an answer is read to its end at once. */
  readonly turn?: AnswerTurn;
};

/** It was no longer permitted when its turn came; nothing of it was sent. */
export class NotPermittedError extends Error {
  override readonly name = "NotPermittedError";
}

export function roundTrip(
  dispatcher: Dispatcher,
  request: Dispatcher.DispatchOptions,
  deadline: Deadline,
  bounds: RoundTripBounds = {},
): Promise<HttpResponse> {
  return new Promise((resolve, reject) => {
    const gathering = new Gathering(deadline, bounds, resolve, reject);
    deadline.whenOver(() => gathering.abandon());
    if (!deadline.over) dispatcher.dispatch(request, gathering);
  });
}

/** Of an answer whose end is not known; a refusal's body is read to its end all the same. */
export type Opened = HttpResponse & { readonly body: Dispatcher.ResponseData["body"] };

/** As exchange, but a success is handed on as it comes, until the deadline is over. */
export async function openStream(
  dispatcher: Dispatcher,
  request: Dispatcher.DispatchOptions,
  deadline: Deadline,
): Promise<Opened> {
  const { signal } = deadline;
  const { statusCode: status, headers, body } = await dispatcher.request({ ...request, signal });
  const text = isSuccess(status) ? undefined : await readText(body, LONGEST_REFUSAL_BYTES);
  return { status, headers, text, body };
}

class Gathering implements Dispatcher.DispatchHandler {
  readonly #deadline: Deadline;
  readonly #bounds: RoundTripBounds;
  readonly #resolve: (answer: HttpResponse) => void;
  readonly #reject: (error: Error) => void;
  #controller: Dispatcher.DispatchController | undefined;
  #status = 0;
  #headers: IncomingHttpHeaders = {};
  readonly #chunks: Buffer[] = [];
  #length = 0;

  constructor(
    deadline: Deadline,
    bounds: RoundTripBounds,
    resolve: (answer: HttpResponse) => void,
    reject: (error: Error) => void,
  ) {
    this.#deadline = deadline;
    this.#bounds = bounds;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  abandon(): void {
    const error = new Error("aborted");
    this.#controller?.abort(error);
    this.#reject(error);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#deadline.over) controller.abort(new Error("aborted"));
    else if (this.#bounds.permitted?.() === false)
      controller.abort(new NotPermittedError("not permitted any more"));
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: IncomingHttpHeaders,
  ): void {
    this.#status = status;
    this.#headers = headers;
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#length += chunk.length;
    const { mostBytes = LONGEST_ANSWER_BYTES } = this.#bounds;
    const success = isSuccess(this.#status);
    const longest = success ? mostBytes : LONGEST_REFUSAL_BYTES;
    if (this.#length <= longest) {
      this.#chunks.push(chunk);
      const { turn } = this.#bounds;
      // A refused request may be sent again, and must not wait for a connection with the turn of another.
      if (!turn || !success || this.#length <= LARGE_ANSWER_BYTES) return;
      if (!turn.take(() => controller.resume())) controller.pause();
      return;
    }
    this.#resolve({ status: this.#status, headers: this.#headers, text: undefined });
    controller.abort(new Error("longer than the limit"));
  }

  onResponseEnd(): void {
    const [only, ...more] = this.#chunks;
    const whole = more.length > 0 ? Buffer.concat(this.#chunks, this.#length) : only;
    const text = whole?.toString("utf8") ?? "";
    this.#resolve({ status: this.#status, headers: this.#headers, text });
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#reject(error);
  }
}
