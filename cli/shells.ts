/** The completion script of each shell: it hands the words of the line to `emailauth complete`, and never evaluates them. */
export const scripts: Readonly<Record<string, string>> = {
  // Bash 3.2, macOS's, has no compopt and no index from the end. It splits words at = and :, which stand within ours.
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
