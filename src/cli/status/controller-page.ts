// Reads the status page of a running controller. The page is on the pod's loopback, so it is read through a
// port-forward, as kubectl does. Promises: a failure has a short reason. The form of the received data is
// checked, and nothing in it is trusted to be more than text.
import { request } from "node:http";
import type { Duplex } from "node:stream";
import { ApiError } from "../../../packages/kube/rest/api-error.ts";
import {
  forwardPort,
  type ForwardedPort,
} from "../../../packages/kube/portforward/port-forward.ts";
import { PODS } from "../../../packages/kube/rest/resource.ts";
import { systemClock } from "../../../packages/kube/time/clock.ts";
import { abandonable, Deadline } from "../../../packages/kube/time/deadline.ts";
import { isRecord } from "../../../packages/kube/json.ts";
import type { Status } from "../../page/status.ts";
import { isAllowed } from "../../inspect/requests/access-review.ts";
import { fieldsIn } from "../../inspect/requests/fields.ts";
import { listPage } from "../../inspect/requests/get.ts";
import { APP_LABEL, type InstalledController } from "../../inspect/cluster/installed-controller.ts";
import { leaseOf, readLease } from "../../inspect/cluster/live-leader.ts";
import type { Ref } from "../../text/names.ts";
import type { ClusterContext } from "../../inspect/cluster/cluster-context.ts";
import { say } from "../../inspect/kubectl/say.ts";

export type ControllerPage =
  | { readonly kind: "read"; readonly status: PageStatus; readonly pod: string }
  /** Why not. */
  | { readonly kind: "unreachable"; readonly why: string };

const isText = (value: unknown): boolean => typeof value === "string";
const isTruncated = (value: unknown): boolean =>
  isRecord(value) && Array.isArray(value["shown"]) && typeof value["total"] === "number";

/** What the commands read of a page. A page without one of these is of a version that this one does not read. */
const FORM = {
  version: isText,
  dryRun: (value: unknown) => typeof value === "boolean",
  leader: isRecord,
  troubles: Array.isArray,
  unreadableNames: Array.isArray,
  // A stand-by has none.
  totals: (value: unknown) => value === undefined || (isRecord(value) && isRecord(value["states"])),
  sources: isTruncated,
  groups: isTruncated,
  formerRules: isTruncated,
  unclear: isTruncated,
  ignored: isRecord,
  list: isRecord,
} as const satisfies Partial<Readonly<Record<keyof Status, (value: unknown) => boolean>>>;

/** No command reads another field. JSON leaves out what is undefined. */
type PageStatus = Pick<Status, keyof typeof FORM | "outdated">;

const USUAL_PORT = 8081;
// A stand-by replica has no status. There are two or three replicas.
const MOST_PODS = 3;
const MOST_SHOWN = 10_000;
const MOST_BYTES = 64 * 1024 * 1024;
/** The whole page, of all its sources. */
const PAGE_TIMEOUT_MS = 30_000;
/** Until the first byte of an answer, of all pods together. */
const ANSWER_MS = 5000;
const SAID_AFTER_MS = 3000;

/** `within`: only sources in this namespace or with a place there, with all their places. */
export async function readControllerPage(
  context: ClusterContext,
  within: string | undefined,
): Promise<ControllerPage> {
  const { installed, planning } = context;
  if (planning.otherwise.length > 0)
    return unreachable(
      `the controller runs with other settings than those given here (${planning.otherwise.map((name) => `--${name}`).join(", ")})`,
    );
  switch (installed.kind) {
    case "found":
      return readOne(context, installed.controller, within);
    case "several":
      return unreachable(
        `which Deployment is the controller is not known: ${installed.names.join(", ")}`,
      );
    case "unknown":
      return unreachable("whether a controller is installed cannot be read");
    case "none":
    case "unasked":
      return unreachable("no controller is installed");
  }
}

function unreachable(why: string): ControllerPage {
  return { kind: "unreachable", why };
}

async function readOne(
  context: ClusterContext,
  controller: InstalledController,
  within: string | undefined,
): Promise<ControllerPage> {
  const { signal } = context.program;
  const { namespace } = controller;
  const port = portOf(controller);
  if (port === 0) return unreachable("its page is on a port that is not known");
  try {
    const forward = { verb: "get", resource: "pods", subresource: "portforward", namespace };
    const what = "ask whether a port-forward is allowed";
    if (!(await isAllowed(context.connection.client, forward, what, signal)))
      return unreachable(`get pods/portforward is not allowed in ${namespace}`);
    const pods = await podsOf(context, namespace);
    if (pods.length === 0) return unreachable(`no pod of it runs in ${namespace}`);
    const places = pods.slice(0, MOST_PODS).map((pod) => ({ namespace, pod, port, within }));
    return await readFirst(context, places);
  } catch (error) {
    if (error instanceof ApiError && error.kind === "forbidden")
      return unreachable(`its pods in ${namespace} may not be listed`);
    throw error;
  }
}

function portOf({ flags }: InstalledController): number {
  const address = flags["status-address"];
  if (typeof address !== "string") return USUAL_PORT;
  const port = Number(/:(\d{1,5})$/.exec(address)?.[1]);
  return Number.isNaN(port) ? 0 : port;
}

/** Running pods, the leader first. */
async function podsOf(
  { connection, installed, program: { signal } }: ClusterContext,
  namespace: string,
): Promise<readonly string[]> {
  const what = "list the controller's pods";
  const query = { labelSelector: APP_LABEL, limit: 50 };
  const pods = await listPage(connection.client, PODS, namespace, { query, what, signal });
  const names = pods.flatMap(({ metadata, status }) => {
    const { name } = fieldsIn(metadata);
    return fieldsIn(status)["phase"] === "Running" && typeof name === "string" ? [name] : [];
  });
  const lease = leaseOf(installed, namespace);
  const holder = await holderOf(connection.client, lease, signal);
  return names.toSorted((a, b) => Number(isHolder(b, holder)) - Number(isHolder(a, holder)));
}

// Its identity is the pod's name, "_" and a UUID.
function isHolder(pod: string, holder: string): boolean {
  return holder.startsWith(`${pod}_`);
}

async function holderOf(
  client: ClusterContext["connection"]["client"],
  lease: Ref,
  signal: AbortSignal,
): Promise<string> {
  try {
    return (await readLease(client, lease, signal)).holder;
  } catch (error) {
    // Without the Lease every pod is equally likely.
    if (error instanceof ApiError && error.kind !== "cancelled") return "";
    throw error;
  }
}

type KubeConfig = ClusterContext["connection"]["kubeConfig"];
type PagePlace = ForwardedPort & { readonly within: string | undefined };

// A forwarded port can be open and silent, or stop in the middle of an answer, and no socket detects this.
// All places together have one time limit for the first byte of an answer, and one for all of it.
async function readFirst(
  { connection, program }: ClusterContext,
  places: readonly PagePlace[],
): Promise<ControllerPage> {
  const { kubeConfig, requestTimeoutMs: limitMs = PAGE_TIMEOUT_MS } = connection;
  const { signal } = program;
  const answerMs = Math.min(ANSWER_MS, limitMs);
  const whole = new Deadline(systemClock, limitMs, signal);
  const answer = new Deadline(systemClock, answerMs, whole.signal);
  let asked = "";
  const notice = systemClock.setTimeout(() => {
    const silent = `the page of pod ${asked} has not answered for ${SAID_AFTER_MS / 1000}s`;
    say(program.stderr, silent);
  }, SAID_AFTER_MS);
  const onAnswer = (): void => {
    notice.cancel();
    answer.stopTimer();
  };
  try {
    let why = "";
    for (const place of places) {
      asked = place.pod;
      const read = await readPod(kubeConfig, place, { signal: answer.signal, onAnswer });
      signal.throwIfAborted();
      if (read.kind === "read") return read;
      const pod = `pod ${place.pod}: its page`;
      if (answer.expired) why ||= `${pod} did not answer within ${answerMs / 1000}s`;
      else if (whole.expired) why ||= `${pod} was not read within ${limitMs / 1000}s`;
      else why ||= read.why;
      if (answer.over) break;
    }
    return unreachable(why);
  } finally {
    notice.cancel();
    answer.release();
    whole.release();
  }
}

type Asking = {
  readonly signal: AbortSignal;
  /** The first byte of an answer has arrived. */
  readonly onAnswer: () => void;
};

async function readPod(
  kubeConfig: KubeConfig,
  at: PagePlace,
  asking: Asking,
): Promise<ControllerPage> {
  try {
    const text = await abandonable(forwarded(kubeConfig, at, asking), asking.signal);
    const status = readJson(text);
    if (!status)
      return unreachable(`pod ${at.pod} does not serve a status that this version reads`);
    if (!status.totals) return unreachable(`pod ${at.pod} has no plan yet, or is a stand-by`);
    return { kind: "read", status, pod: `${at.namespace}/${at.pod}` };
  } catch (error) {
    const why = error instanceof Error ? error.message : "failed";
    return unreachable(`pod ${at.pod}: ${why}`);
  }
}

async function forwarded(kubeConfig: KubeConfig, at: PagePlace, asking: Asking): Promise<string> {
  const stream = await forwardPort(kubeConfig, at, { clock: systemClock, signal: asking.signal });
  try {
    return await pageOver(stream, at.within, asking);
  } finally {
    stream.destroy();
  }
}

function pageOver(
  stream: Duplex,
  within: string | undefined,
  { signal, onAnswer }: Asking,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const fail = (why: string): void => reject(new Error(why));
    const asked = request({
      createConnection: () => stream,
      // The page only accepts names of the loopback.
      host: "localhost",
      path: `/api/status?limit=${MOST_SHOWN}&in=${encodeURIComponent(within ?? "")}`,
      headers: { connection: "close" },
      signal,
    });
    asked.on("error", () => fail("its page was not answered"));
    asked.on("response", (answer) => {
      onAnswer();
      const chunks: Buffer[] = [];
      let bytes = 0;
      if (answer.statusCode !== 200) fail(`its page answered ${answer.statusCode ?? 0}`);
      answer.on("data", (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes > MOST_BYTES) asked.destroy();
        else chunks.push(chunk);
      });
      answer.on("error", () => fail("its page broke off"));
      answer.on("end", () => resolve(Buffer.concat(chunks).toString("utf8")));
    });
    asked.end();
  });
}

function readJson(text: string): PageStatus | undefined {
  let status: unknown;
  try {
    status = JSON.parse(text);
  } catch {
    return undefined;
  }
  return isPage(status) ? status : undefined;
}

function isPage(page: unknown): page is PageStatus {
  return isRecord(page) && Object.entries(FORM).every(([name, isForm]) => isForm(page[name]));
}
