// Completes names from the cluster and the kubeconfig. A shell waits for the answer, so there is one
// request of at most two seconds, for names only, and no output on failure.
import { contextNames } from "../../../packages/kube/kubeconfig/kubeconfig.ts";
import { KINDS } from "../../controller/model/kinds.ts";
import { METADATA_LIST, NAMESPACES, type Resource } from "../../../packages/kube/rest/resource.ts";
import { fieldsIn, type AnswerFields } from "../../inspect/requests/fields.ts";
import { listPage } from "../../inspect/requests/get.ts";
import { connect } from "../../inspect/kubectl/connection.ts";
import { OVERRIDES, readKubectlFlags, type Args } from "../../inspect/kubectl/kubectl-flags.ts";
import type { Program } from "../../run/program-context.ts";
import type { ClusterWords, GivenWords } from "./complete.ts";

const TIMEOUT = "2s";
/** A longer list of candidates is not useful. */
const MOST = 500;

export function clusterWords(program: Program): ClusterWords {
  return {
    namespaces: (args) => names({ resource: NAMESPACES }, args, program),
    objects: (kind, args) => names(KINDS[kind], args, program),
    contexts: async (args) => {
      try {
        return contextNames({ kubeconfig: args.get("--kubeconfig"), env: program.env });
      } catch {
        return [];
      }
    },
  };
}

const CONNECTION_FLAGS = ["kubeconfig", "context", "as", "as-group", ...OVERRIDES] as const;

async function names(
  {
    resource,
    fieldSelector,
  }: { readonly resource: Resource; readonly fieldSelector?: string | undefined },
  words: GivenWords,
  program: Program,
): Promise<readonly string[]> {
  const args: Args = {
    "request-timeout": TIMEOUT,
    ...Object.fromEntries(CONNECTION_FLAGS.map((name) => [name, words.get(`--${name}`)])),
    ...(resource === NAMESPACES ? {} : { namespace: words.get("--namespace") }),
  };
  try {
    const { client, namespace } = connect(readKubectlFlags(args, program.env), program);
    try {
      const place = resource === NAMESPACES ? undefined : namespace;
      const objects = await listPage(client, resource, place, {
        query: { limit: MOST, fieldSelector },
        // Requests metadata only, so no value of a Secret is sent.
        accept: METADATA_LIST,
        what: "complete a name",
        signal: program.signal,
      });
      return objects.flatMap(nameOf);
    } finally {
      await client.close();
    }
  } catch {
    return [];
  }
}

// Only valid names are passed to a shell.
const NAME = /^[a-z0-9]([-.a-z0-9]*[a-z0-9])?$/;

function nameOf({ metadata }: AnswerFields): readonly string[] {
  const { name } = fieldsIn(metadata);
  return typeof name === "string" && NAME.test(name) ? [name] : [];
}
