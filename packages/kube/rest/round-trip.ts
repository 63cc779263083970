// One request and its whole answer, through undici's dispatch handlers. undici's request() makes a stream of
// every answer, which an answer of a kilobyte does not need.
// Promises: settles once. It rejects at once when the deadline is over, also while the request waits for a
// connection, and then nothing more of it is sent. Nothing is sent if `mayStillSend` returns false when the
// first byte is due. A body longer than the limit is not read further, and its connection is closed.
import type { IncomingHttpHeaders } from "node:http";
import type { Dispatcher } from "undici";
import { isSuccess, LONGEST_ANSWER_BYTES, LONGEST_REFUSAL_BYTES, readText } from "./response.ts";
import type { HttpResponse } from "./response.ts";
import { LARGE_ANSWER_BYTES, type AnswerSlot } from "./large-answers.ts";
import type { Deadline } from "../time/deadline.ts";

/** Limits of a request besides its deadline. */
export type RoundTripBounds = {
  /** Limit on the answer's body. */
  readonly mostBytes?: number;
  /** Called just before the first byte is sent. */
  readonly mayStillSend?: () => boolean;
  /** Its slot among the client's large answers. If absent, an answer is read to its end at once. */
  readonly slot?: AnswerSlot;
};

/** `mayStillSend` returned false. Nothing of the request was sent. */
export class NotSentError extends Error {
  override readonly name = "NotPermittedError";
}

export function roundTrip(
  dispatcher: Dispatcher,
  request: Dispatcher.DispatchOptions,
  deadline: Deadline,
  { mostBytes = LONGEST_ANSWER_BYTES, mayStillSend, slot }: RoundTripBounds = {},
): Promise<HttpResponse> {
  return new Promise((resolve, reject) => {
    let started: Dispatcher.DispatchController | undefined;
    let status = 0;
    let headers: IncomingHttpHeaders = {};
    let length = 0;
    const chunks: Buffer[] = [];
    deadline.whenOver(() => {
      const error = new Error("aborted");
      started?.abort(error);
      reject(error);
    });
    if (deadline.over) return;
    dispatcher.dispatch(request, {
      onRequestStart(controller) {
        started = controller;
        if (deadline.over) controller.abort(new Error("aborted"));
        else if (mayStillSend?.() === false)
          controller.abort(new NotSentError("may not be sent any more"));
      },
      onResponseStart(_controller, code, fields) {
        [status, headers] = [code, fields];
      },
      onResponseData(controller, chunk) {
        length += chunk.length;
        const success = isSuccess(status);
        if (length > (success ? mostBytes : LONGEST_REFUSAL_BYTES)) {
          resolve({ status, headers, text: undefined });
          controller.abort(new Error("longer than the limit"));
          return;
        }
        chunks.push(chunk);
        // A refusal takes no slot. Its request may be sent again and must not hold a slot while it waits.
        if (!slot || !success || length <= LARGE_ANSWER_BYTES) return;
        if (!slot.take(() => controller.resume(), length)) controller.pause();
      },
      onResponseEnd() {
        const [only, ...more] = chunks;
        const whole = more.length > 0 ? Buffer.concat(chunks, length) : only;
        resolve({ status, headers, text: whole?.toString("utf8") ?? "" });
      },
      onResponseError: (_controller, error) => reject(error),
    });
  });
}

/** An answer whose end is not known. A refusal's body is still read to its end. */
export type OpenResponse = HttpResponse & { readonly body: Dispatcher.ResponseData["body"] };

/** Like exchange, but a success is passed on as it arrives, until the deadline is over. */
export async function openStream(
  dispatcher: Dispatcher,
  request: Dispatcher.DispatchOptions,
  deadline: Deadline,
): Promise<OpenResponse> {
  const { signal } = deadline;
  const { statusCode: status, headers, body } = await dispatcher.request({ ...request, signal });
  const text = isSuccess(status) ? undefined : await readText(body, LONGEST_REFUSAL_BYTES);
  return { status, headers, text, body };
}
