// The README's terminal session is what this test sees: the unmodified kubectl on the sandbox, as the
// demo starts it. `UPDATE_README=1 npm test -- test/readme-transcript.test.ts` writes it anew.
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { eventually } from "../packages/kube/testing/eventually.ts";
import { kubectlMissing } from "./support/api-server/kubectl.ts";
import { assertTranscript } from "./support/documents/transcripts.ts";
import { startDemo } from "./support/programs/every-command.ts";
import { folderOf } from "../packages/kube/testing/folder.ts";

const README = new URL("../README.md", import.meta.url);
const SESSION = [
  "kubectl get secrets --all-namespaces",
  "kubectl create namespace team-d",
  "kubectl get secret registry --namespace team-d",
  "kubectl delete secret registry --namespace team-a",
  "kubectl get secret registry --namespace team-a",
];

test("the README's transcript is what kubectl shows on the sandbox", async (t) => {
  const missing = kubectlMissing();
  if (missing) return t.skip(missing);
  const demo = await startDemo(t, { program: "bin/secretcast.js", env: process.env, cwd: "." });
  const [, kubeconfig = ""] = /export KUBECONFIG=(\S+)/.exec(demo.said()) ?? [];
  const home = folderOf(t);
  const env = { PATH: process.env["PATH"] ?? "", HOME: home, KUBECONFIG: kubeconfig };
  const run = (line: string): string =>
    execFileSync("kubectl", line.split(" ").slice(1), { env, encoding: "utf8", stdio: "pipe" });
  let transcript = "";
  for (const line of SESSION) {
    // A copy arrives within milliseconds; the reader of the README types slower than that.
    const output = line.includes("get secret registry")
      ? await eventually(line, () => run(line))
      : run(line);
    transcript += `$ ${line}\n${steady(output)}`;
  }
  assertTranscript(README, "transcript", transcript);
});

/** Without what differs from run to run, the age, and from one kubectl to the next. */
function steady(output: string): string {
  return output
    .replaceAll(/ \d+s *$/gm, " 1s")
    .replaceAll(/ deleted from \S+ namespace$/gm, " deleted");
}
