// The command that shows the leader's status page, for who looks at a stand-by's. It is meant to be
// copied into a shell, and who may write the Lease chooses the holder: only an identity of the form
// that this program gives itself is taken, of a pod of the same Deployment.

export type OwnPod = {
  readonly namespace: string;
  /** The pod's name. */
  readonly hostname: string;
  /** Of the status page; 0: whichever was free, which of another pod is not known. */
  readonly port: number;
};

// HOSTNAME_UUID, as newIdentity makes it.
const IDENTITY =
  /^(?<pod>[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)_[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
// A pod of a Deployment: its name, the template's hash, a random part.
const OF_DEPLOYMENT = /^(?<deployment>[-a-z0-9]+)-[a-z0-9]+-[a-z0-9]+$/;
// A longer name is cut to a hostname of this length, and is no pod's name then.
const LONGEST_HOSTNAME = 63;

/** undefined: it cannot be known. */
export function leaderPageCommand(
  holder: string,
  { namespace, hostname, port }: OwnPod,
): string | undefined {
  const pod = IDENTITY.exec(holder)?.groups?.["pod"];
  if (pod === undefined || pod.length >= LONGEST_HOSTNAME || port === 0) return undefined;
  const own = OF_DEPLOYMENT.exec(hostname)?.groups?.["deployment"];
  if (own === undefined || OF_DEPLOYMENT.exec(pod)?.groups?.["deployment"] !== own)
    return undefined;
  return `kubectl port-forward -n ${namespace} pod/${pod} ${port}`;
}
