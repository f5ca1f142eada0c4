# Completes the words of amrun, aminfo, ambench and amsim in bash: options, which each tool's --help names, measures of ambench,
# simulations of amsim and their parameters, and files. Installed under each tool's name in share/bash-completion/completions.
# shellcheck shell=bash disable=SC2207  # the words have no spaces

_libam() {
  local tool=$1 word=$2 words
  case $word in
    -*) words=$("$tool" --help 2>/dev/null | grep -oE '(^|[ ,[])--?[a-z][a-z-]*' | grep -oE -- '-.*') ;;
    *) [[ ${tool##*/} != am@(bench|sim) ]] || words=$("$tool" --help 2>/dev/null | sed -nE 's/^ {2,4}([a-z0-9][a-z0-9_-]*(=|  )).*/\1/p') ;;
  esac
  COMPREPLY=($(compgen -W "${words:-}" -- "$word"))
}
complete -o default -F _libam amrun aminfo ambench amsim
