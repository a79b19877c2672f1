import type { CommandSpec } from '../command.ts';
import { EXIT, usageError } from '../exit.ts';

export const completion: CommandSpec = {
  usage: 'completion <shell>',
  group: 'This program',
  summary: "print a shell's completion script",
  about: 'Bash: add it to ~/.bashrc. Zsh: ~/.zfunc has to be in fpath before compinit. Commands, flags, files and your domains complete.',
  choices: { shell: ['bash', 'zsh', 'fish'] },
  examples: [
    'completion bash >> ~/.bashrc',
    'completion zsh > ~/.zfunc/_emailauth',
    'completion fish > ~/.config/fish/completions/emailauth.fish',
  ],
  json: '{shell,script}',
  async run({ terminal }, [shell = '']) {
    const script = scripts[shell];
    if (!script) throw usageError(`There is no completion for ${shell}.`, `It is one of ${Object.keys(scripts).join(', ')}.`);
    terminal.result({ shell, script }, script.trimEnd());
    return EXIT.ok;
  },
};

// Each script passes the words of the line to `emailauth complete`, and never evaluates them.
const scripts: Readonly<Record<string, string>> = {
  // Bash 3.2, which macOS has, lacks compopt and negative indexes. It splits words at = and :, which ours contain.
  bash: `# bash completion for emailauth
_emailauth() {
  local words=() last=-1 previous='' word value about i
  for ((i = 1; i <= COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]}
    if ((last >= 0)) && [[ $word == [=:]* || $previous == *[=:] ]]; then
      words[last]+=$word
    else
      words[++last]=$word
    fi
    previous=$word
  done
  COMPREPLY=()
  while IFS=$'\\t' read -r value about; do
    case $value in
      :0)
        compopt -o filenames 2>/dev/null
        word=\${words[last]}
        while IFS= read -r value; do COMPREPLY+=("$value"); done < <(compgen -f -- "\${word#--*=}")
        ;;
      :*) ;;
      *) COMPREPLY+=("$value") ;;
    esac
  done < <(emailauth complete -- "\${words[@]}" 2>/dev/null)
}
complete -F _emailauth emailauth
`,
  zsh: `#compdef emailauth
# zsh completion for emailauth
_emailauth() {
  local -a lines values
  local line
  lines=("\${(@f)$(emailauth complete -- "\${(@Q)words[2,CURRENT]}" 2>/dev/null)}")
  compset -P '--*='
  if [[ $lines[-1] == ':0' ]]; then
    _files
    return
  fi
  for line in "\${(@)lines[1,-2]}"; do
    values+=("\${\${line%%$'\\t'*}//:/\\:}:\${line#*$'\\t'}")
  done
  _describe emailauth values
}
if [[ $funcstack[1] == _emailauth ]]; then
  _emailauth "$@"
else
  compdef _emailauth emailauth
fi
`,
  fish: `# fish completion for emailauth
function __emailauth_complete
    set -l words (commandline -opc)
    set -e words[1]
    set -l current (commandline -ct)
    set -l lines (emailauth complete -- $words "$current" 2>/dev/null)
    set -l prefix (string match -r -- '^--[^=]*=' "$current")
    set -l directive $lines[-1]
    set -e lines[-1]
    if test "$directive" = ':0'
        set lines (__fish_complete_path (string replace -r -- '^--[^=]*=' '' "$current"))
    end
    for line in $lines
        printf '%s%s\\n' "$prefix" $line
    end
end
complete -c emailauth -f -a '(__emailauth_complete)'
`,
};
