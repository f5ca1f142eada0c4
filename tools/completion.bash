# Completes the words of amrun, aminfo and ambench in bash: options, which each tool's --help names, measures of ambench, settings
# in front of them, and files. Installed under each tool's name in share/bash-completion/completions.
# shellcheck shell=bash disable=SC2207  # the words have no spaces

_libam() {
  local tool=$1 word=$2 words
  case $word in
    -*) words=$("$tool" --help 2>/dev/null | grep -oE '(^|[ ,[])--?[a-z][a-z-]*' | grep -oE -- '-.*') ;;
    *) [[ ${tool##*/} != ambench ]] || words=$("$tool" --help 2>/dev/null | sed -nE 's/^  ([a-z0-9][a-z0-9-]*)  .*/\1/p') ;;
  esac
  COMPREPLY=($(compgen -W "${words:-}" -- "$word"))
}
complete -o default -F _libam amrun aminfo ambench
