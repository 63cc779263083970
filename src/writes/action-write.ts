// An action of the plan as a write of the pool, with what is newest when it starts.
import type { PooledWrite } from "./write-pool.ts";
import type { WrittenCache } from "./outcome.ts";
import { bytesOf } from "../core/plan/requests.ts";
import { placeKey } from "../core/model/kinds.ts";
import { decisionKey, type Action, actionKey } from "../core/model/actions.ts";

export type ActionWrite = PooledWrite & { readonly action: Action };

/**
 * Of a source that changes all the time the pool writes although the plan knows an older version: what is
 * written is the newest, of the same type, so that it is as good an update.
 */
export function withLatest(action: Action, cache: Pick<WrittenCache, "get">): Action {
  if (!("content" in action) || action.kind === "fill") return action;
  const { source, replica } = action.content;
  const latest = cache.get(source);
  if (latest?.role !== "source" || latest === source || latest.uid !== source.uid) return action;
  // What it says of itself by now may be for other places.
  if (latest.entry !== source.entry) return action;
  if (!latest.replica || latest.replica.type !== replica.type) return action;
  if (latest.replica.immutable !== replica.immutable) return action;
  const content = { source: latest, replica: latest.replica };
  return { ...action, content, inputs: decisionKey(content) };
}

/** What the pool must know of an action to bound it. */
export function pooledWriteOf(action: Action): ActionWrite {
  const { objectKind, place } = action;
  const key = actionKey(action);
  if (action.kind === "confirm") return { key, reads: true, action };
  const reads = action.kind === "liveGet";
  const bytes = bytesOf(action);
  const source = placeKey(objectKind, action.source);
  return { key, namespace: place.namespace, source, bytes, reads, action };
}
