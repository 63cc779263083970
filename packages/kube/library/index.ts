// The public API of `secretcast/kube`: the machinery of this controller for other projects. This is the one
// file of src that only re-exports, because the list itself is the promise. Exported names keep their meaning
// within a major version (docs/versions.md). Everything else is free to change. A test pins each name with its
// declaration. The guide is docs/kube.md.

export { connectCluster } from "./cluster-connection.ts";
export type { ClusterConnection, ConnectOptions } from "./cluster-connection.ts";
export { KubeConfigError } from "../kubeconfig/kubeconfig-error.ts";
export { ApiError } from "../rest/api-error.ts";
export type { ApiErrorDetails, ApiErrorKind } from "../rest/api-error.ts";
export type { ApiClient, ApiRequest, ApiStream } from "../rest/api-client.ts";
export type { Reachability } from "../rest/reachability.ts";
export { resourcePath } from "../rest/resource.ts";
export type { KubeObject, Resource } from "../rest/resource.ts";

export { Informer } from "../cache/informer.ts";
export type {
  InformerMetrics,
  InformerOptions,
  ReflectorLog,
  ReflectorMetrics,
} from "../cache/informer-options.ts";
export type { EventHandler, HandlerRegistration } from "../cache/event-handlers.ts";
export type { Store } from "../store/store.ts";
export type { Stored } from "../store/stored.ts";
export type { IndexFunction } from "../store/store-index.ts";

export { WorkQueue } from "../workqueue/queue.ts";
export type {
  AddOptions,
  Item,
  ShutdownOptions,
  ShutdownOutcome,
  WorkQueueOptions,
} from "../workqueue/queue.ts";
export type { QueueMetrics } from "../workqueue/queue-metrics.ts";
export { exponentialRateLimiter } from "../workqueue/rate-limiter.ts";
export type { ExponentialOptions, RateLimiter } from "../workqueue/rate-limiter.ts";

export { LeaderElector, newIdentity } from "../leaderelection/leader-elector.ts";
export type {
  LeaderCallbacks,
  LeaderElectorOptions,
  LeaderMetrics,
  LeaseClient,
} from "../leaderelection/elector-options.ts";
export type { Lease, LeaseSpec } from "../leaderelection/lease-record.ts";

export { EventRecorder } from "../events/event-recorder.ts";
export type { EventRecorderOptions } from "../events/event-recorder.ts";
export type { DropReason, EventClient } from "../events/event-writer.ts";
export type {
  EventDetails,
  EventReporter,
  EventSeries,
  KubeEvent,
  ObjectReference,
} from "../events/event-record.ts";

export { runControlLoop } from "./control-loop.ts";
export type { ControlLoopOptions, SyncAnswer, SyncFailure } from "./control-loop.ts";
export {
  controllerOf,
  controllerReference,
  enqueueKeys,
  objectKey,
  splitKey,
  wholeObject,
} from "./whole-object.ts";
export type { OwnerReference, WholeObject } from "./whole-object.ts";
export { terminationSignal } from "./termination.ts";

export { systemClock } from "../time/clock.ts";
export type { Clock, Timer } from "../time/clock.ts";
export { Backoff } from "../time/backoff.ts";
export type { BackoffOptions } from "../time/backoff.ts";
