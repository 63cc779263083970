// The command that shows the leader's status page, for readers of a standby replica's page. Readers copy it
// into a shell, and any client that may write the Lease chooses the holder. So only an identity in this
// program's own form is accepted, of a pod of the same Deployment.

export type OwnPod = {
  readonly namespace: string;
  /** The pod's name. */
  readonly hostname: string;
  /** Port of the status page. If it is 0, a free port was chosen, and that of another pod is unknown. */
  readonly port: number;
};

// HOSTNAME_UUID, as newIdentity makes it.
const IDENTITY =
  /^(?<pod>[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)_[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
// A pod of a Deployment: its name, the template's hash, a random part.
const OF_DEPLOYMENT = /^(?<deployment>[-a-z0-9]+)-[a-z0-9]+-[a-z0-9]+$/;
// A longer name is cut to a hostname of this length and is then not the pod's name.
const LONGEST_HOSTNAME = 63;

/** Undefined if it cannot be known. */
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
