// Whether who asks may do something, as `kubectl auth can-i`: a SelfSubjectAccessReview, which creates
// nothing. With --as the answer is that of whom it names.
import type { ApiClient } from "../../kube/rest/api-client.ts";
import { isRecord } from "../../kube/json.ts";

const PATH = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";

/** As the API calls them: resourceAttributes. */
export type AccessAttributes = {
  readonly verb: string;
  /** Absent: the core group. */
  readonly group?: string;
  readonly resource: string;
  readonly subresource?: string;
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
};

/** `what`: of the question, for error messages. */
export async function isAllowed(
  client: ApiClient,
  resourceAttributes: AccessAttributes,
  what: string,
  signal: AbortSignal,
): Promise<boolean> {
  const review = await client.request<unknown>({
    method: "POST",
    path: PATH,
    body: {
      apiVersion: "authorization.k8s.io/v1",
      kind: "SelfSubjectAccessReview",
      spec: { resourceAttributes },
    },
    what,
    signal,
  });
  const status = isRecord(review) ? review["status"] : undefined;
  return isRecord(status) && status["allowed"] === true;
}
