// How a Pod of the world uses an object, and what follows for a value that was replaced. The truth is
// computed from the words of this file, never from a Pod's spec and never by the code under test.
// All times are seconds since the epoch, as the API server writes them.

export const WAYS = [
  "env",
  "optionalEnv",
  "unknownKeyEnv",
  "envFrom",
  "initEnv",
  "subPath",
  "subPathExpr",
  "projectedSubPath",
  "volume",
  "projected",
  "csi",
  "pull",
] as const;
export type Way = (typeof WAYS)[number];

export type Use = {
  readonly way: Way;
  /** Of the Secret, in the Pod's namespace. */
  readonly secret: string;
};

export type Timing =
  /** status.startTime alone, as a Pod by hand has it. */
  | { readonly kind: "started"; readonly at: number }
  /** Each container began at `containersAt`. */
  | { readonly kind: "reported"; readonly at: number; readonly containersAt: number }
  /** Its containers crash and wait for their next start. */
  | { readonly kind: "waiting"; readonly at: number }
  | { readonly kind: "finished"; readonly at: number; readonly phase: "Succeeded" | "Failed" }
  /** No kubelet has seen it. */
  | { readonly kind: "unstarted" };

export type Holding = "environment" | "subPath" | "volume" | "mount";

/** What holds an older value than that of `since`, or "pull", or undefined where it is no matter. */
export function holdingOf(
  { way }: Use,
  timing: Timing,
  since: number,
  refreshedBy: { readonly now: number; readonly syncPeriod: number },
): Holding | "pull" | undefined {
  if (timing.kind === "finished") return undefined;
  if (way === "pull") return "pull";
  if (timing.kind === "unstarted") return undefined;
  // A kubelet reads from a cache, so a start counts as later only by more than the sync period.
  const readLast = since + refreshedBy.syncPeriod;
  const isOld = timing.at <= readLast;
  switch (way) {
    case "env":
    case "optionalEnv":
    case "unknownKeyEnv":
    case "envFrom":
    case "initEnv":
      // A container that waits reads its environment when it starts, which its node reports late.
      if (timing.kind === "waiting") {
        const isLate =
          Number.isFinite(since) && refreshedBy.now < readLast + refreshedBy.syncPeriod;
        return isOld && isLate ? "environment" : undefined;
      }
      if (timing.kind === "reported" && timing.containersAt > readLast) return undefined;
      return isOld ? "environment" : undefined;
    case "subPath":
    case "subPathExpr":
    case "projectedSubPath":
      return isOld ? "subPath" : undefined;
    case "csi":
      return isOld ? "mount" : undefined;
    case "volume":
    case "projected":
      return isOld && refreshedBy.now < readLast ? "volume" : undefined;
  }
}

/** A Pod's spec with these uses, as a user writes it. Each use that needs a container has one of its own. */
export function specOf(uses: readonly Use[]): Readonly<Record<string, unknown>> {
  const containers: unknown[] = [{ name: "main", image: "example.com/app" }];
  const initContainers: unknown[] = [];
  const volumes: unknown[] = [];
  const imagePullSecrets: unknown[] = [];
  for (const [index, { way, secret }] of uses.entries()) {
    const name = `use-${index}`;
    const image = "example.com/app";
    const env = (key: string, optional?: true): unknown => ({
      name,
      image,
      env: [
        { name: "PLAIN", value: "made-up" },
        { name: "VALUE", valueFrom: { secretKeyRef: { name: secret, key, optional } } },
      ],
    });
    const mount = (more: Readonly<Record<string, unknown>>, source: unknown): void => {
      containers.push({
        name,
        image,
        env: [{ name: "FILE", value: "value" }],
        volumeMounts: [{ name, mountPath: "/value", ...more }],
      });
      volumes.push({ name, ...(source as object) });
    };
    const ordinary = { secret: { secretName: secret } };
    const projected = { projected: { sources: [{ secret: { name: secret } }] } };
    switch (way) {
      case "env":
        containers.push(env("value"));
        break;
      case "optionalEnv":
        containers.push(env("value", true));
        break;
      case "unknownKeyEnv":
        containers.push(env("a-key-that-it-had", true));
        break;
      case "initEnv":
        initContainers.push(env("value"));
        break;
      case "envFrom":
        containers.push({ name, image, envFrom: [{ secretRef: { name: secret } }] });
        break;
      case "subPath":
        mount({ subPath: "value" }, ordinary);
        break;
      case "subPathExpr":
        mount({ subPathExpr: "$(FILE)" }, ordinary);
        break;
      case "projectedSubPath":
        mount({ subPath: "value" }, projected);
        break;
      case "volume":
        mount({}, ordinary);
        break;
      case "projected":
        mount({}, projected);
        break;
      case "csi":
        mount({}, { csi: { driver: "csi.example.com", nodePublishSecretRef: { name: secret } } });
        break;
      case "pull":
        imagePullSecrets.push({ name: secret });
        break;
    }
  }
  return {
    containers,
    ...(initContainers.length > 0 && { initContainers }),
    ...(volumes.length > 0 && { volumes }),
    ...(imagePullSecrets.length > 0 && { imagePullSecrets }),
  };
}

/** Its status as a kubelet would have written it; undefined for a Pod that no kubelet has seen. */
export function statusOf(
  timing: Timing,
  uses: readonly Use[],
): Readonly<Record<string, unknown>> | undefined {
  switch (timing.kind) {
    case "unstarted":
      return undefined;
    case "started":
      return { phase: "Running", startTime: timeText(timing.at) };
    case "finished":
      return { phase: timing.phase, startTime: timeText(timing.at) };
    case "reported": {
      const startedAt = timeText(timing.containersAt);
      const began = { startedAt, finishedAt: startedAt, exitCode: 0, reason: "Completed" };
      return {
        phase: "Running",
        startTime: timeText(timing.at),
        containerStatuses: containersOf(uses, { running: { startedAt } }),
        initContainerStatuses: initContainersOf(uses, { terminated: began }),
      };
    }
    case "waiting":
      return {
        phase: "Running",
        startTime: timeText(timing.at),
        containerStatuses: containersOf(uses, { waiting: { reason: "CrashLoopBackOff" } }),
        initContainerStatuses: initContainersOf(uses, { waiting: { reason: "CrashLoopBackOff" } }),
      };
  }
}

function containersOf(uses: readonly Use[], state: unknown): readonly unknown[] {
  const names = uses.flatMap(({ way }, index) =>
    way === "pull" || way === "initEnv" ? [] : [`use-${index}`],
  );
  return ["main", ...names].map((name) => containerStatus(name, state));
}

function initContainersOf(uses: readonly Use[], state: unknown): readonly unknown[] {
  return uses.flatMap(({ way }, index) =>
    way === "initEnv" ? [containerStatus(`use-${index}`, state)] : [],
  );
}

function containerStatus(name: string, state: unknown): unknown {
  return {
    name,
    image: "example.com/app",
    imageID: "",
    ready: false,
    restartCount: 0,
    state,
  };
}

export function timeText(seconds: number): string {
  return new Date(seconds * 1000).toISOString().replace(".000Z", "Z");
}
