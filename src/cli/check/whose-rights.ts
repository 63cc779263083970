// Decides whose rights `check` judges: those of the controller's account or of the account in --as, and
// separately the user's own. Everything else is read as the user.
import { ApiError } from "../../../packages/kube/rest/api-error.ts";
import { causeOf } from "../../../packages/kube/rest/error-text.ts";
import type { ApiClient } from "../../../packages/kube/rest/api-client.ts";
import {
  isAllowed,
  isAllowedTo,
  type AccessAttributes,
} from "../../inspect/requests/access-review.ts";

/** Answers whether one user has a right. */
export type RightsOf = (right: AccessAttributes, signal: AbortSignal) => Promise<boolean>;

const WHAT = "ask for a right";

export function rightsOfUser(client: ApiClient): RightsOf {
  return (right, signal) => isAllowed(client, right, WHAT, signal);
}

/**
 * Checks rights with `impersonating`, which is `client` as that account. Where this is forbidden, it uses a
 * review of the account, which needs another right.
 */
export function rightsOfAccount(
  client: ApiClient,
  impersonating: ApiClient,
  account: { readonly user: string; readonly groups: readonly string[] },
): RightsOf {
  let mayImpersonate = true;
  return async (right, signal) => {
    if (mayImpersonate) {
      try {
        return await isAllowed(impersonating, right, WHAT, signal);
      } catch (error) {
        if (!(error instanceof ApiError) || error.kind !== "forbidden") throw error;
        mayImpersonate = false;
      }
    }
    return isAllowedTo(client, account, right, WHAT, signal);
  };
}

/** The answer of a review, or a text that says why there is none. Rejects if authentication fails. */
export async function orUnasked(answer: Promise<boolean>): Promise<boolean | string> {
  try {
    return await answer;
  } catch (error) {
    if (!(error instanceof ApiError) || error.status < 400 || error.kind === "unauthorized")
      throw error;
    return causeOf(error).text;
  }
}
