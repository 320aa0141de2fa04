# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Completion of gush for bash 4 and later, with or without the bash-completion package: source this file, or
# install it as "gush" among the completions.

# ---- lists: sub-commands, and for each its options ("=" behind those that take a value) ----
# tests/cli/agree.sh reads the lines from here to the end of the lists, and compares them with --help, with
# the manual pages and with "gush ladder --list".
_gush_commands='cat tee yes write read probe ladder bench install-links'
_gush_cat='--number-nonblank --number --squeeze-blank --show-nonprinting --show-ends --show-tabs --show-all --stable
  --explain --help --version'
_gush_tee='--append --ignore-interrupts --output-error --stable --help --version'
_gush_yes='--help --version'
_gush_write='--busy-loop --poll --huge-page --check-huge-page --buf-size= --write-with-vmsplice
  --read-with-splice --gift --lock-memory --dont-touch-pages --same-buffer --bytes-to-pipe= --pipe-size=
  --csv --verbose --help --version'
_gush_read=$_gush_write
_gush_probe='--json --stable --verbose --help --version'
_gush_ladder='--quick --rounds= --bytes= --only= --all --cpus= --verify --list --explain --json= --csv= --help
  --version'
_gush_bench='--rounds= --cpus= --json= --help --version'
_gush_install_links='--help --version'
_gush_modes='warn warn-nopipe exit exit-nopipe'
_gush_steps='write-read write-read-huge vmsplice-read vmsplice-splice vmsplice-splice-huge busy-loop
  full-capacity one-cpu adaptive tee-master fill-write fill-unsafe protect limit mem-read memcpy gift
  same-buffer dont-touch-pages lock-memory pipe-64K pipe-128K pipe-256K pipe-512K pipe-1M'
# ---- end of the lists ----

# The words that begin with $cur, which $before was cut from (bash splits at "=" unless told otherwise).
_gush_offer() {
  mapfile -t COMPREPLY < <(compgen -P "$before" -W "$1" -- "$cur")
}

# A list with commas: what is behind the last one is completed, with names that are not in it yet.
_gush_offer_steps() {
  local done='' left='' step

  [[ $cur == *,* ]] && done=${cur%,*},
  cur=${cur##*,}
  for step in $_gush_steps; do
    [[ ,$done == *",$step,"* ]] || left+=" $step"
  done
  before+=$done
  _gush_offer "$left"
  compopt -o nospace # a comma may follow
}

_gush_offer_files() {
  mapfile -t COMPREPLY < <(compgen -P "$before" -f -- "$cur")
  compopt -o filenames
}

_gush_offer_folders() {
  mapfile -t COMPREPLY < <(compgen -d -- "$cur")
  compopt -o filenames
}

# The value of $1, an option of the sub-command $2. Sizes, counts and CPUs are the user's own idea.
_gush_offer_value() {
  case $2$1 in
    tee--output-error) _gush_offer "$_gush_modes" ;;
    ladder--only | ladder-o) _gush_offer_steps ;;
    ladder--json | ladder--csv | bench--json) _gush_offer_files ;;
  esac
}

# Whether $1, an option of the sub-command $2, takes a value. tee's may, but behind a "=" only.
_gush_takes_value() {
  local options="_gush_${2//-/_}"

  case $2$1 in
    ladder-[rboc] | bench-[rc]) return 0 ;;
    *--*) [[ " ${!options//$'\n'/ } " == *" $1= "* ]] ;;
    *) return 1 ;;
  esac
}

_gush() {
  local cur=${COMP_WORDS[COMP_CWORD]} previous='' before='' command='' joined='' options i

  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    [[ ${COMP_WORDS[i]} == -* ]] && continue
    command=${COMP_WORDS[i]}
    break
  done
  if [[ -z $command ]]; then
    case $cur in
      -*) _gush_offer '--help --version' ;;
      *) _gush_offer "$_gush_commands" ;;
    esac
    return
  fi
  [[ " $_gush_commands " == *" $command "* ]] || return
  for ((i++; i < COMP_CWORD; i++)); do
    [[ ${COMP_WORDS[i]} == -- ]] && return
  done

  # "--json=f" comes as one word, or as "--json", "=", "f"; "--json" and "=" when nothing is behind it.
  previous=${COMP_WORDS[COMP_CWORD - 1]}
  if [[ $cur == = ]]; then
    cur='' joined=1
  elif [[ $previous == = ]]; then
    joined=1
    previous=${COMP_WORDS[COMP_CWORD - 2]}
  elif [[ $cur == --*=* ]]; then
    joined=1
    previous=${cur%%=*} before=${cur%%=*}= cur=${cur#*=}
  fi
  previous=${previous//_/-}
  if _gush_takes_value "$previous" "$command" || [[ -n $joined && $command$previous == tee--output-error ]]; then
    _gush_offer_value "$previous" "$command"
    return
  fi
  if [[ $cur != -* ]]; then
    case $command in
      bench) _gush_offer 'transfers producers tools' ;;
      cat | tee) _gush_offer_files ;;
      install-links) _gush_offer_folders ;;
    esac
    return 0
  fi
  cur=${cur//_/-} # either is taken; what is offered has "-"
  options=_gush_${command//-/_}
  _gush_offer "${!options}"
  [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace
  return 0
}

complete -F _gush gush
