#!/bin/sh
# --help, the manual pages, the completion and what the ladder prints must tell the same.
# Needs nothing but sh, awk and sed; jq or python3 for JSON, mandoc for its lint, bash to try the completion.
# shellcheck disable=SC2317 # the functions are called through check and must_notice
set -u
LC_ALL=C
export LC_ALL
O=$(cd "${O:-build}" && pwd) || exit 1
root=$(cd "$(dirname "$0")/../.." && pwd) || exit 1
gush=$O/gush
completion=$root/completions/gush.bash
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' HUP INT TERM
passed=0 failed=0 skipped=0

# check NAME FUNCTION ARGUMENT...: the function prints a line for each thing that is wrong
check() {
  name=$1
  shift
  if "$@" > "$tmp/wrong" 2>&1 && [ ! -s "$tmp/wrong" ]; then
    echo "ok $name"
    passed=$((passed + 1))
  else
    echo "not ok $name: $(wc -l < "$tmp/wrong") differences"
    sed 's/^/  /' "$tmp/wrong"
    failed=$((failed + 1))
  fi
}

# A planted fault: the function must complain, and with these words.
must_notice() {
  name=$1 words=$2
  shift 2
  "$@" > "$tmp/wrong" 2>&1
  if grep -qxF -e "$words" "$tmp/wrong"; then
    echo "ok $name"
    passed=$((passed + 1))
  else
    echo "not ok $name: a planted fault was not noticed as \"$words\""
    sed 's/^/  /' "$tmp/wrong"
    failed=$((failed + 1))
  fi
}

skip() {
  echo "skip $1: $2"
  skipped=$((skipped + 1))
}

have() {
  command -v "$1" > "$tmp/have"
}

# only_in FILE OTHER TEXT: each line of FILE that OTHER lacks, with the text behind it; both are sorted
only_in() {
  comm -23 "$1" "$2" | sed "s|\$| $3|"
}

# An empty list would agree with anything.
not_empty() {
  [ -s "$1" ] || echo "no $2 found"
}

# ---- sub-commands and options ----

commands_of_help() {
  "$gush" --help | sed -n 's/^  \([a-z][a-z-]*\)  *[^ ].*/\1/p' | sort
}

# "--name", "--name=" for those with a value, "-x --name" for those with a letter, "-x" for a letter only
options_of_help() {
  "$gush" "$1" --help |
    sed -n -e 's/^  \(-.\), \(--[a-z-]*=\{0,1\}\).*/\1 \2/p' -e 's/^  *\(--[a-z-]*=\{0,1\}\).*/\1/p' \
      -e 's/^  \(-.\) .*/\1/p' | sort
}

options_of_page() {
  sed -n 's/^\.It \(Fl .*\)/\1/p' "$1" |
    sed -e 's/^Fl \([A-Za-z]\) , Fl Fl \([a-z-]*\)/-\1 --\2/' -e 's/^Fl Fl \([a-z-]*\)/--\1/' -e 's/^Fl \([A-Za-z]\)$/-\1/' \
      -e 's/ Ns = Ns Ar .*/=/' -e 's/ Ns Op .*//' | sort
}

# words_of_completion FILE LIST: the lists are assignments that any shell can read
words_of_completion() {
  (
    eval "$(sed -n '/^# ---- lists/,/^# ---- end of the lists/p' "$1")"
    eval "printf '%s\\n' \$_gush_$(echo "$2" | tr - _)"
  ) | sort
}

# options PAGE COMPLETION COMMAND
options() {
  options_of_help "$3" > "$tmp/help"
  options_of_page "$1" > "$tmp/page"
  sed -e '/^-.$/d' -e 's/^-. //' "$tmp/help" | sort > "$tmp/help.long"
  words_of_completion "$2" "$3" > "$tmp/words"
  not_empty "$tmp/help" 'options in --help'
  only_in "$tmp/help" "$tmp/page" 'is not in the manual page'
  only_in "$tmp/page" "$tmp/help" 'is in the manual page, not in --help'
  only_in "$tmp/help.long" "$tmp/words" 'is not in the completion'
  only_in "$tmp/words" "$tmp/help.long" 'is in the completion, not in --help'
}

# commands PAGE COMPLETION
commands() {
  commands_of_help > "$tmp/help"
  sed -n 's/^\.It Cm \([a-z-]*\)$/\1/p' "$1" | sort > "$tmp/page"
  words_of_completion "$2" commands > "$tmp/words"
  not_empty "$tmp/help" 'commands in --help'
  only_in "$tmp/help" "$tmp/page" 'is not in the manual page'
  only_in "$tmp/page" "$tmp/help" 'is in the manual page, not in --help'
  only_in "$tmp/help" "$tmp/words" 'is not in the completion'
  only_in "$tmp/words" "$tmp/help" 'is in the completion, not in --help'
  while read -r command; do
    [ -f "$root/man/gush-$command.1" ] || echo "$command has no manual page"
    grep -q "^\.Xr gush-$command 1" "$1" || echo "$command is not referred to"
  done < "$tmp/help"
}

# ---- steps ----

# steps PAGE COMPLETION
steps() {
  "$gush" ladder --list | sed -n 's/^  \([a-zA-Z0-9-]\{1,\}\) .*/\1/p' | sort > "$tmp/list"
  sed -n '/^\.Ss Steps of the article/,/^\.Ss Placements/s/^\.It Cm //p' "$1" | tr -s ' ,' '[\n*]' |
    sort > "$tmp/page"
  words_of_completion "$2" steps > "$tmp/words"
  not_empty "$tmp/list" 'steps in --list'
  only_in "$tmp/list" "$tmp/page" 'is not in the manual page'
  only_in "$tmp/page" "$tmp/list" 'is in the manual page, not in --list'
  only_in "$tmp/list" "$tmp/words" 'is not in the completion'
  only_in "$tmp/words" "$tmp/list" 'is in the completion, not in --list'
}

# ---- the fields of JSON ----

# "path type" for each value in the file
fields_by_jq() {
  jq -r '
    def name: if type == "number" then "[]" else "." + . end;
    def kind: if type == "number" and . == floor then "integer" else type end;
    [paths] as $all | . as $top | $all[] as $p |
    ($p | map(name) | join("") | ltrimstr(".")) + " " + ($top | getpath($p) | kind)' "$1"
}

fields_by_python() {
  python3 - "$1" << 'EOF'
import json, sys

def kind(v):
    if v is None:
        return "null"
    if isinstance(v, bool):
        return "boolean"
    if isinstance(v, (int, float)):
        return "integer" if v == int(v) else "number"
    return {str: "string", list: "array", dict: "object"}[type(v)]

def walk(v, path):
    if path:
        print(path, kind(v))
    if isinstance(v, dict):
        for name, inner in v.items():
            walk(inner, path + "." + name if path else name)
    elif isinstance(v, list):
        for inner in v:
            walk(inner, path + "[]")

walk(json.load(open(sys.argv[1])), "")
EOF
}

fields_by_any() {
  if have jq; then fields_by_jq "$1"; else fields_by_python "$1"; fi |
    sed 's/^\(environment\.mitigations\)\.[^ ]* /\1.* /' | sort -u
}

# fields PAGE RESULT: documented and printed are the same, with types; what is in something null or empty
# cannot have been printed
fields() {
  sed -n 's/^\.It Va \([^ ]*\) Pq \([a-z]*\)\(.*\)/\1 \2 \3/p' "$1" > "$tmp/page"
  fields_by_any "$2" > "$tmp/printed"
  not_empty "$tmp/page" 'fields in the manual page'
  not_empty "$tmp/printed" 'fields in the result'
  awk -v page="$tmp/page" '
    BEGIN {
      while ((getline line < page) > 0) {
        split(line, word, " ")
        type[word[1]] = word[2]
        nullable[word[1]] = line ~ /or null$/
      }
    }
    $2 == "object" || $2 == "array" { filled[$1] = 1 }
    $1 ~ /\[\]$/ && $2 == "object" { next } # an element, no field of its own
    {
      printed[$1] = 1
      if (!($1 in type))
        print $1 " is not in the manual page"
      else if ($2 == "null" ? !nullable[$1] : $2 != type[$1] && !($2 == "integer" && type[$1] == "number"))
        print $1 " is " $2 ", and the manual page says " type[$1]
    }
    END {
      for (path in type) {
        parent = path
        if (!sub(/\[\]$/, "", parent) && !sub(/\.[^.]*$/, "", parent))
          parent = ""
        if (!(path in printed) && (parent == "" || parent in filled) && path !~ /\*$/)
          print path " is not printed"
      }
    }' "$tmp/printed"
}

json_cases() {
  if ! have jq && ! have python3; then
    skip json_fields 'neither jq nor python3'
    return
  fi
  if ! "$gush" ladder --quick --only one-cpu,limit --verify --bytes=1M --json - \
    > "$tmp/result.json" 2> "$tmp/ladder.err"; then
    echo "not ok json_fields: the ladder failed"
    sed 's/^/  /' "$tmp/ladder.err"
    failed=$((failed + 1))
    return
  fi
  page=$root/man/gush-ladder-json.5
  check json_fields fields "$page" "$tmp/result.json"
  grep -v '^\.It Va settings\.seed ' "$page" > "$tmp/fault"
  must_notice json_notices_missing 'settings.seed is not in the manual page' \
    fields "$tmp/fault" "$tmp/result.json"
  sed 's/^\.It Va settings\.seed Pq integer/&\n.It Va settings.sead Pq integer/' "$page" > "$tmp/fault"
  must_notice json_notices_extra 'settings.sead is not printed' fields "$tmp/fault" "$tmp/result.json"
  sed 's/^\(\.It Va environment\.kernel Pq\) string/\1 integer/' "$page" > "$tmp/fault"
  must_notice json_notices_type 'environment.kernel is string, and the manual page says integer' \
    fields "$tmp/fault" "$tmp/result.json"

  page=$root/man/gush-probe.1
  "$gush" probe --json > "$tmp/probe.json"
  check probe_fields fields "$page" "$tmp/probe.json"
  grep -v '^\.It Va calls\.tee ' "$page" > "$tmp/fault"
  must_notice probe_notices_missing 'calls.tee is not in the manual page' fields "$tmp/fault" "$tmp/probe.json"
}

# ---- a screen ----

# fits COMMAND...
fits() {
  "$@" --help > "$tmp/help" || echo "exit status $?"
  not_empty "$tmp/help" '--help'
  awk 'length > 80 { print "longer than 80 columns: " $0 }
    END { if (NR > 24) print NR " lines, more than 24" }' "$tmp/help"
}

# ---- the manual pages ----

lint() {
  for page in "$root"/man/gush*.[1-8]; do
    mandoc -T lint -W warning "$page"
  done
}

# ---- the completion, as bash drives it ----

cat > "$tmp/drive" << 'EOF'
# completed WORD...: what stands behind the last word when Tab is pressed; "=" is a word of its own
compopt() { :; } # bash has it while it completes only
. "$1"
cd "$2" || exit 1
completed() {
  COMP_WORDS=("$@")
  COMP_CWORD=$(($# - 1))
  COMPREPLY=()
  _gush gush "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
  printf '%s\n' "${COMPREPLY[@]}" | sort | tr '\n' ' ' | sed 's/ *$//'
}
try() {
  local want=$1 got
  shift
  got=$(completed "$@")
  [[ $got == "$want" ]] || echo "'$*' gives '$got', not '$want'"
}
try 'bench cat install-links ladder probe read tee write yes' gush ''
try ladder gush la
try '--help --version' gush --
try '' gush nosuch --
try '--help --version' gush yes --
try '--append --help --ignore-interrupts --output-error --stable --version' gush tee -
try '--output-error' gush tee --o
try 'warn warn-nopipe' gush tee --output-error = w
try '--output-error=exit --output-error=exit-nopipe' gush tee --output-error=e
try 'a result.json' gush tee --output-error 'a r'
try 'some file' gush tee -a so
try '--version' gush install-links --v
try '--show-all --show-ends --show-nonprinting --show-tabs' gush cat --sh
try 'a result.json' gush cat -n a
try 'sub' gush install-links s
try '--buf-size= --busy-loop --bytes-to-pipe=' gush write --b
try '--read-with-splice' gush read --read_w
try '--json=' gush ladder --j
try '--only=' gush ladder --quick --o
try 'mem-read memcpy' gush ladder --only mem
try 'mem-read memcpy' gush ladder --only = mem
try '--only=mem-read --only=memcpy' gush ladder --only=mem
try 'mem-read memcpy' gush ladder -o mem
try 'limit,mem-read' gush ladder --only = limit,mem-
try '' gush ladder --only = limit,lim
try "$(printf '%s\n' $_gush_steps | sort | tr '\n' ' ' | sed 's/ *$//')" gush ladder --only =
try 'a result.json' gush ladder --json 'a r'
try 'a result.json' gush ladder --csv = 'a r'
try '' gush ladder --rounds ''
try '' gush ladder ''
try '' gush ladder -- --
try '' gush read --buf-size = --
try '--json' gush probe --j
try '' gush probe --json ''
try producers gush bench p
try '--rounds=' gush bench producers --r
complete -p gush > /dev/null || echo 'nothing is registered for gush'
EOF

drive() {
  mkdir -p "$tmp/folder/sub"
  : > "$tmp/folder/some file"
  : > "$tmp/folder/a result.json"
  bash --norc --noprofile "$tmp/drive" "$1" "$tmp/folder"
}

# ---- cases ----

check commands commands "$root/man/gush.1" "$completion"
for command in $(commands_of_help); do
  check "options_$command" options "$root/man/gush-$command.1" "$completion" "$command"
  check "help_fits_$command" fits "$gush" "$command"
done
check help_fits_gush fits "$gush"
check steps steps "$root/man/gush-ladder.1" "$completion"
json_cases

grep -v '^\.It Fl Fl buf-size ' "$root/man/gush-read.1" > "$tmp/fault"
must_notice options_notice_missing_in_page '--buf-size= is not in the manual page' \
  options "$tmp/fault" "$completion" read
sed 's/^\.It Fl q ,/.It/' "$root/man/gush-ladder.1" > "$tmp/fault"
must_notice options_notice_missing_letter '-q --quick is not in the manual page' \
  options "$tmp/fault" "$completion" ladder
sed "s/^_gush_write='/&--nosuch /" "$completion" > "$tmp/fault"
must_notice options_notice_extra_in_completion '--nosuch is in the completion, not in --help' \
  options "$root/man/gush-write.1" "$tmp/fault" write
sed 's/--json=/--json/' "$completion" > "$tmp/fault"
must_notice options_notice_lost_value '--json= is not in the completion' \
  options "$root/man/gush-ladder.1" "$tmp/fault" ladder
grep -v '^\.It Cm protect$' "$root/man/gush-ladder.1" > "$tmp/fault"
must_notice steps_notice_missing 'protect is not in the manual page' steps "$tmp/fault" "$completion"
sed 's/full-capacity one-cpu/full-capacity/' "$completion" > "$tmp/fault"
must_notice steps_notice_missing_in_completion 'one-cpu is not in the completion' \
  steps "$root/man/gush-ladder.1" "$tmp/fault"

if have mandoc; then check lint lint; else skip lint 'no mandoc'; fi
if have bash; then
  check completion drive "$completion"
  sed 's/^complete /# &/' "$completion" > "$tmp/fault"
  must_notice completion_notices_unregistered 'nothing is registered for gush' drive "$tmp/fault"
else
  skip completion 'no bash'
fi

[ "$failed" -eq 0 ] || exit 1
[ "$passed" -gt 0 ] || exit 77
exit 0
