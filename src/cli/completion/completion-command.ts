// Declares the `secretcast completion` command. It prints the script that a shell sources.
import { UsageError } from "../../controller/settings/config.ts";
import type { ClusterCommand } from "../../inspect/kubectl/cluster-command.ts";
import { completionScript, SHELLS } from "./completion-script.ts";

export const completionCommand: ClusterCommand = {
  words: "completion <shell>",
  about: "The completion of a shell: commands, flags, namespaces and names",
  options: (argv) =>
    argv
      .positional("shell", { type: "string", describe: SHELLS.join(", ") })
      .example("source <($0 completion bash)", "for this bash; put it into ~/.bashrc")
      .example("source <($0 completion zsh)", "for this zsh; put it into ~/.zshrc, after compinit")
      .example("$0 completion fish | source", "for this fish")
      .example(
        "$0 completion powershell | Out-String | Invoke-Expression",
        "for this PowerShell; put it into $PROFILE",
      )
      .epilogue(
        "kubectl completes `kubectl secretcast` by itself, through kubectl_complete-secretcast.",
      ),
  run: async ({ shell }, { stdout }) => {
    const known = SHELLS.find((each) => each === shell);
    if (!known)
      throw new UsageError(`no completion for "${String(shell)}": there is ${SHELLS.join(", ")}`);
    stdout.write(completionScript(known));
    return 0;
  },
};
