// The command that gives a Pod a new start, by what owns it. Promise: a shell reads it as it is meant. The API
// server has checked the names of namespaces and Pods, but any user may write any text as the name of an owner.
import { isSecretName } from "../../text/names.ts";
import type { PodOwner, UsingPod } from "./using-pod.ts";

/** What `kubectl rollout restart` restarts. */
const ROLLED_OUT: readonly string[] = ["Deployment", "StatefulSet", "DaemonSet"];

/** `owner`: at the top of the chain of owners, as far as it is known. */
export function restartCommand(
  { namespace, name }: Pick<UsingPod, "namespace" | "name">,
  owner: PodOwner | undefined,
): string {
  if (!owner)
    return `kubectl get pod ${name} -n ${namespace} -o yaml | kubectl replace --force -f -`;
  const isRolledOut = groupOf(owner) === "apps" && ROLLED_OUT.includes(owner.kind);
  if (isRolledOut && isSecretName(owner.name))
    return `kubectl rollout restart ${owner.kind.toLowerCase()}/${owner.name} -n ${namespace}`;
  // Its owner creates another one.
  return `kubectl delete pod ${name} -n ${namespace}`;
}

/** `Deployment/web`, and `Database.example.com/orders` of a group that Kubernetes does not have. */
export function ownerText(owner: PodOwner | undefined): string {
  if (!owner) return "none";
  const group = groupOf(owner);
  const kind = group.includes(".") ? `${owner.kind}.${group}` : owner.kind;
  return `${kind}/${owner.name}`;
}

function groupOf({ apiVersion }: PodOwner): string {
  const slash = apiVersion.indexOf("/");
  return slash < 0 ? "" : apiVersion.slice(0, slash);
}
