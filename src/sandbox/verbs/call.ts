// One call of the API, as the verbs take and answer it.
import type { JsonObject } from "../storage/object.ts";
import type { View } from "../http/representation.ts";
import type { Target } from "../http/routes.ts";
import type { Storage } from "../storage/storage.ts";

export type Request = {
  readonly method: string;
  readonly query: URLSearchParams;
  readonly contentType: string;
  readonly userAgent: string;
  readonly body: Buffer;
};

export type Answer = {
  readonly code: number;
  readonly body: JsonObject;
  readonly warnings?: readonly string[];
};

export type Call = {
  readonly storage: Storage;
  readonly target: Target;
  readonly request: Request;
  readonly view: View;
  readonly now: () => number;
};
