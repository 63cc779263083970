// A kubeconfig that cannot be used.

/** One line that names the file, and the field or context that is wrong. It quotes no value. */
export class KubeConfigError extends Error {
  override readonly name = "KubeConfigError";
}
