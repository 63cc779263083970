// The scripts that shells source. Each script passes the arguments up to the cursor to `secretcast
// __complete` and offers the answer. The scripts contain no candidates themselves.

export const SHELLS = ["bash", "zsh", "fish", "powershell"] as const;
type Shell = (typeof SHELLS)[number];

export function completionScript(shell: Shell): string {
  return SCRIPTS[shell];
}

// bash splits arguments at "=" and ":". After a split at "=", only the text behind it is replaced.
const BASH = String.raw`# bash completion of secretcast: source <(secretcast completion bash)
_secretcast() {
    local current=${"$"}{COMP_WORDS[COMP_CWORD]} line answer
    [[ $current == "=" ]] && current=""
    COMPREPLY=()
    answer=$("${"$"}{COMP_WORDS[0]}" __complete "${"$"}{COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null) || return
    while IFS= read -r line; do
        case $line in
            :0) compopt -o default 2>/dev/null ;;
            :*) ;;
            *)
                line=${"$"}{line%%$'\t'*}
                [[ -n $line && $line == "$current"* ]] && COMPREPLY+=("$line")
                ;;
        esac
    done <<<"$answer"
}
complete -F _secretcast secretcast
`;

const ZSH = String.raw`#compdef secretcast
# zsh completion of secretcast: source <(secretcast completion zsh), after compinit
_secretcast() {
    local line answer prefix="" files=""
    local -a offers
    answer=$("${"$"}{words[1]}" __complete "${"$"}{(@)words[2,CURRENT]}" 2>/dev/null) || return 1
    [[ ${"$"}{words[CURRENT]} == --*=* ]] && prefix="${"$"}{words[CURRENT]%%=*}="
    for line in "${"$"}{(@f)answer}"; do
        case $line in
            :0) files=yes ;;
            :*) ;;
            *$'\t'*) offers+=("${"$"}{${"$"}{line%%$'\t'*}//:/\\:}:${"$"}{line#*$'\t'}") ;;
            ?*) offers+=("${"$"}{line//:/\\:}") ;;
        esac
    done
    if [[ -n $files ]]; then
        [[ -n $prefix ]] && compset -P '*='
        _files
        return
    fi
    (( ${"$"}{#offers} )) || return 1
    if [[ -n $prefix ]]; then
        compset -P '*='
    fi
    _describe -t secretcast secretcast offers
}
if [[ "${"$"}{funcstack[1]}" = _secretcast ]]; then
    _secretcast "$@"
else
    compdef _secretcast secretcast
fi
`;

const FISH = String.raw`# fish completion of secretcast: secretcast completion fish | source
function __secretcast_complete
    set -l before (commandline -opc)
    set -l current (commandline -ct)
    set -l prefix (string match -r -- '^--[a-z-]+=' $current)
    for line in ($before[1] __complete $before[2..-1] "$current" 2>/dev/null)
        switch $line
            case ':0'
                __fish_complete_path (string replace -r -- '^--[a-z-]+=' '' $current)
            case ':*'
            case '*'
                printf '%s%s\n' "$prefix" $line
        end
    end
end
complete -c secretcast -f -a '(__secretcast_complete)'
`;

// PowerShell before 7.3 passes no empty argument, so a blank stands for an empty word. Where nothing is returned,
// PowerShell completes files.
const POWERSHELL = String.raw`# PowerShell completion of secretcast: secretcast completion powershell | Out-String | Invoke-Expression
Register-ArgumentCompleter -Native -CommandName secretcast -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)
    $ended = $true
    $words = @(foreach ($element in $commandAst.CommandElements) {
        $left = $cursorPosition - $element.Extent.StartOffset
        if ($left -le 0) { break }
        $text = $element.Extent.Text
        $ended = $left -gt $text.Length
        $text.Substring(0, [Math]::Min($text.Length, $left))
    })
    $program = $words[0]
    $given = @($words | Select-Object -Skip 1)
    if ($ended) { $given += ' ' }
    $prefix = ''
    if ($given[-1] -match '^--[a-z-]+=') { $prefix = $Matches[0] }
    $answer = @(& $program __complete @given 2>$null)
    if ($answer.Count -eq 0 -or $answer[-1] -eq ':0') { return }
    $offers = @($answer | Where-Object { $_ -and -not $_.StartsWith(':') })
    if ($offers.Count -eq 0) { return '' }
    foreach ($line in $offers) {
        $value, $about = $line -split [char]9, 2
        if (-not $about) { $about = $value }
        [System.Management.Automation.CompletionResult]::new($prefix + $value, $value, 'ParameterValue', $about)
    }
}
`;

const SCRIPTS: Readonly<Record<Shell, string>> = {
  bash: BASH,
  zsh: ZSH,
  fish: FISH,
  powershell: POWERSHELL,
};
