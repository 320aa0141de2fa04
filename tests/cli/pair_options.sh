#!/bin/sh
# Every pair of the 15 options, at the writer (its bytes looked at by a helper), at the reader (fed by one), and
# at both ends of one pipe. What must come of each is worked out here, from the manual, not from the programs.
# shellcheck disable=SC2016 # `ends` evaluates its two texts itself
# shellcheck source=tests/cli/lib.inc
. "$(dirname "$0")/lib.inc"
all='busy-loop poll huge-page check-huge-page buf-size write-with-vmsplice read-with-splice gift lock-memory
  dont-touch-pages same-buffer csv bytes-to-pipe pipe-size verbose'

# What is typed for an option.
typed() {
  case $1 in
    check-huge-page) echo '--huge-page --check-huge-page' ;; # one needs the other
    buf-size) echo --buf-size=128K ;;
    bytes-to-pipe) echo --bytes-to-pipe=3000001 ;;
    pipe-size) echo --pipe-size=128K ;;
    *) echo "--$1" ;;
  esac
}

# given NAME: whether the pair in hand has it
given() {
  case $given in *" $1 "*) return 0 ;; esac
  return 1
}

# idle NAME: adds it to those that do nothing at this end
idle() {
  idle=${idle:+$idle, }--$1 idle_count=$((idle_count + 1))
}

idle_at_writer() {
  idle='' idle_count=0
  given read-with-splice && idle read-with-splice
  given write-with-vmsplice && return
  given gift && idle gift
  given same-buffer && idle same-buffer
}

idle_at_reader() {
  idle='' idle_count=0
  for name in write-with-vmsplice same-buffer pipe-size; do
    given $name && idle $name
  done
  given read-with-splice || {
    given gift && idle gift
    given dont-touch-pages && given lock-memory && idle dont-touch-pages
    return
  }
  given huge-page || given check-huge-page && idle huge-page
  for name in check-huge-page lock-memory dont-touch-pages; do
    given $name && idle $name
  done
}

# note TOOL ERR: the one note, or none; and nothing else unless --verbose
note() {
  want=''
  if [ "$idle_count" -eq 1 ]; then
    want="gush $1: note: $idle does nothing at this end"
  elif [ "$idle_count" -gt 1 ]; then
    want="gush $1: note: $idle do nothing at this end"
  fi
  given csv && want=''
  if given verbose; then
    is "$1 $options: notes" "$(echo "$2" | grep "^gush")" "$want"
    is "$1 $options: settings" "$(echo "$2" | grep -c '^busy_loop \|^pipe_size \|^page faults: ')" 3
  else
    is "$1 $options: stderr" "$2" "$want"
  fi
}

# The reader's line, from the options alone.
reader_line() {
  buf=262144 text=256KiB bytes=4194304 piped=4MiB pipe=0
  given buf-size && buf=131072 text=128KiB
  given bytes-to-pipe && bytes=3000001 piped=3000001B
  given pipe-size && pipe=131072
  if ! given csv; then
    figure "$text" $((bytes / buf)) "$piped"
    return
  fi
  line="[0-9][0-9]*\\.[0-9]*,$bytes,$buf,$pipe"
  for name in busy-loop poll huge-page check-huge-page write-with-vmsplice read-with-splice gift lock-memory \
    dont-touch-pages same-buffer; do
    flag=0
    given $name && flag=1
    [ $name = huge-page ] && given check-huge-page && flag=1
    line=$line,$flag
  done
  echo "$line"
}

try_writer() {
  # shellcheck disable=SC2034 # for `ends`
  contents=X
  # shellcheck disable=SC2034
  given dont-touch-pages && contents=0
  if given bytes-to-pipe; then
    ends '"$gush" write $options' '"$helpers/drain" $contents'
    is "write $options" "$rout" '3000001 bytes, 0 bad'
  else
    ends '"$gush" write $options' '"$helpers/drain" $contents 4194304'
    is "write $options" "$rout" '4194304 bytes, 0 bad'
  fi
  is "status of write $options" "$wstatus" 0
  idle_at_writer
  note write "$werr"
}

try_reader() {
  ends '"$helpers/fill" 5000000' '"$gush" read --bytes-to-pipe=4M $options'
  is "status of read $options" "$rstatus" 0
  matches "read $options" "$rout" "$(reader_line)"
  idle_at_reader
  note read "$rerr"
}

try_both() {
  ends '"$gush" write $options' '"$gush" read --bytes-to-pipe=4M $options'
  is "status of write | read $options" "$wstatus $rstatus" '0 0'
  matches "write | read $options" "$rout" "$(reader_line)"
}

# Contradictions; what usage.sh looks at closely.
try_refused() {
  ends '"$gush" write $options' '"$helpers/drain" X 1000000'
  is "write $options" "$wstatus $rout" '2 0 bytes, 0 bad'
  given pipe-size && return # the reader does not mind
  ends '"$helpers/fill" 1000' '"$gush" read $options'
  is "read $options" "$rstatus $rout" '2 '
}

missing() {
  case $1 in
    check-huge-page) ! have_huge_pages ;;
    huge-page) ! [ -e /sys/kernel/mm/transparent_hugepage/hpage_pmd_size ] ;;
    *) return 1 ;;
  esac
}

begin pair_options
pairs=0 left_out=''
rest=$all
for a in $all; do
  rest=${rest#*"$a"}
  missing "$a" && left_out="$left_out $a" && continue
  for b in $rest; do
    missing "$b" && continue
    pairs=$((pairs + 1)) given=" $a $b " options="$(typed "$a") $(typed "$b")"
    if { given check-huge-page && given dont-touch-pages; } ||
      { given write-with-vmsplice && given pipe-size; }; then
      try_refused
      given pipe-size || continue
      try_reader
      continue
    fi
    try_writer
    try_reader
    try_both
  done
done
[ -n "$left_out" ] || is 'number of pairs' "$pairs" 105
end
[ -z "$left_out" ] || skip pair_options_huge "no transparent huge pages here, for$left_out"
finish
