// An API call, with the request and the answer of a verb.
import type { JsonObject } from "../storage/object.ts";
import type { Representation } from "../http/representation.ts";
import type { RequestTarget } from "../http/routes.ts";
import type { Storage } from "../storage/storage.ts";

export type VerbRequest = {
  readonly method: string;
  readonly query: URLSearchParams;
  readonly contentType: string;
  readonly userAgent: string;
  readonly body: Buffer;
};

export type VerbAnswer = {
  readonly code: number;
  readonly body: JsonObject;
  readonly warnings?: readonly string[];
};

export type VerbCall = {
  readonly storage: Storage;
  readonly target: RequestTarget;
  readonly request: VerbRequest;
  readonly view: Representation;
  readonly now: () => number;
};
