// Checks the API server: its version, the groups that the controller writes to, and whether it streams
// lists. It only reads.
import { ApiError } from "../../../packages/kube/rest/api-error.ts";
import { causeOf } from "../../../packages/kube/rest/error-text.ts";
import { NAMESPACES, resourcePath } from "../../../packages/kube/rest/resource.ts";
import type { ApiClient } from "../../../packages/kube/rest/api-client.ts";
import { clockText } from "../../controller/settings/clock-text.ts";
import { fieldsIn } from "../../inspect/requests/fields.ts";
import { orRefusal } from "../../inspect/requests/refusal.ts";
import { finding, type CheckFinding } from "./finding.ts";

/** Since this version namespaces have their name as a label, and `immutable` of a Secret has an effect. */
const OLDEST_MINOR = 21;
/** The tested versions: test/cluster/assets has a module file for each. */
const TESTED = "1.35 to 1.37";

export type ServerVersion = { readonly text: string; readonly minor: number };

/** Rejects when the server does not answer or authentication fails. */
export async function serverVersion(
  client: ApiClient,
  signal: AbortSignal,
): Promise<ServerVersion | undefined> {
  try {
    const answer = await client.request<unknown>({
      method: "GET",
      path: "/version",
      what: "ask the API server for its version",
      signal,
    });
    const text = fieldsIn(answer)["gitVersion"];
    const parts = typeof text === "string" ? /^v1\.(\d{1,3})\.[-+.\w]{1,60}$/.exec(text) : null;
    return parts ? { text: parts[0], minor: Number(parts[1]) } : undefined;
  } catch (error) {
    if (error instanceof ApiError && error.kind === "forbidden") return undefined;
    throw error;
  }
}

export function versionFinding(version: ServerVersion | undefined): CheckFinding {
  const about = { area: "server", check: "server version" } as const;
  if (!version) {
    const advice = "let this user get /version, as system:public-info-viewer does";
    return finding(about, "unknown", "the API server does not say which it is", advice);
  }
  const { text, minor } = version;
  if (minor >= OLDEST_MINOR) return finding(about, "ok", `${text} (tested with ${TESTED})`);
  const advice = `Kubernetes 1.${OLDEST_MINOR} or newer is needed`;
  return finding(about, "missing", `${text}: too old`, advice);
}

const GROUPS: readonly (readonly [path: string, check: string, without: string])[] = [
  [
    "/apis/coordination.k8s.io/v1",
    "Leases",
    "no election among replicas: --no-leader-elect and one replica",
  ],
  ["/apis/events.k8s.io/v1", "Events", "what goes wrong is in the log and on the page alone"],
];

export async function checkGroups(
  client: ApiClient,
  signal: AbortSignal,
): Promise<readonly CheckFinding[]> {
  return Promise.all(
    GROUPS.map(async ([path, check, without]): Promise<CheckFinding> => {
      const about = { area: "server", check } as const;
      const group = path.slice("/apis/".length);
      return (await serves(client, path, signal))
        ? finding(about, "ok", `${group} is served`)
        : finding(about, "warning", `${group} is not served`, without);
    }),
  );
}

async function serves(client: ApiClient, path: string, signal: AbortSignal): Promise<boolean> {
  const what = "ask what the API server serves";
  const answer = client.request<unknown>({ method: "GET", path, what, signal });
  return !((await orRefusal(answer)) instanceof ApiError);
}

// No namespace has this label, so the stream only contains the end mark.
const NONE = "secretcast.io/none=none";

/** The feature WatchList: a first list that is streamed, instead of pages. */
export async function checkStreaming(
  client: ApiClient,
  signal: AbortSignal,
): Promise<CheckFinding> {
  const about = { area: "server", check: "streaming lists (WatchList)" } as const;
  try {
    const stream = await client.open({
      method: "GET",
      path: resourcePath(NAMESPACES),
      query: {
        watch: true,
        sendInitialEvents: true,
        resourceVersionMatch: "NotOlderThan",
        allowWatchBookmarks: true,
        timeoutSeconds: 1,
        labelSelector: NONE,
      },
      what: "ask for a streamed list",
      signal,
    });
    stream.close();
    return finding(about, "ok", "the caches are filled by a stream");
  } catch (error) {
    if (!(error instanceof ApiError) || error.status < 400) throw error;
    if (error.kind === "invalid" || error.status === 400) {
      const says = "none: the caches are filled in pages, which takes a large cluster longer";
      return finding(about, "ok", says);
    }
    const says = `it could not be tried: ${causeOf(error).text}`;
    return finding(about, "warning", says, "without the right to watch namespaces nothing goes");
  }
}

/** Empty unless this machine's clock differs much from the API server's. */
export function clockFindings(aheadMs: number): readonly CheckFinding[] {
  const says = clockText(aheadMs);
  if (says === undefined) return [];
  const advice = "synchronise the clock (NTP): alerts and times of Events are wrong otherwise";
  return [finding({ area: "server", check: "clock" }, "warning", says, advice)];
}
