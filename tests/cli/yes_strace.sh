#!/bin/sh
# Every system call that gush yes makes once it is loaded, failed by strace: its output is lines and nothing else, it ends
# by the signal or with its message, and where a clever call is refused it goes on in another way.
# shellcheck disable=SC2317,SC2086 # functions are called by computed names; options are words
# shellcheck source=tests/cli/lib.inc
. "$(dirname "$0")/lib.inc"
need_strace yes_strace
cd "$tmp" || exit 1
most=68000000 # past where tee and vmsplice are compared
words='seven b' # with its newline 8 bytes: lines of a piece of any length that ends at a newline are whole

# As many as are wanted at most, and some.
echo "$words" > lines
while [ "$(wc -c < lines)" -le "$most" ]; do
  cat lines lines > twice
  mv twice lines
done

# What loading costs: a run that ends at its first wrong option. Its message is no part of that.
strace -qq -o trace "$gush" yes --no-such-option 2> err
counts trace | awk '$1 == "write" { $2 = 0 } { print }' > base

# points TRACE CALLS: "call n" for the first, second, third and last time after loading; of these calls, or of all
points() {
  counts "$1" | awk -v base=base -v calls="$2" '
    BEGIN { while ((getline line < base) > 0) { split(line, f, " "); skip[f[1]] = f[2] } }
    $1 ~ /^(execve|exit_group|exit|brk|futex)$/ { next }
    calls != "" && index(" " calls " ", " " $1 " ") == 0 { next }
    { n = $2 - skip[$1] }
    n > 0 { print $1, skip[$1] + 1 }
    n > 1 { print $1, skip[$1] + 2 }
    n > 2 { print $1, skip[$1] + 3 }
    n > 3 && $1 != "write" { print $1, $2 }' # the last write is the message
}

# Each leaves what came in `out`, the status in `status.of` and the message in `err`.
into_pipe() {
  {
    timeout -k 1 20 strace -qq -o trace $inject "$gush" yes "$words" 2> err
    echo $? > status.of
  } | head -c "$bytes" > out
}

into_file() {
  (
    ulimit -f 4096 # blocks of 512: 2 MiB
    trap '' XFSZ
    timeout -k 1 20 strace -qq -o trace $inject "$gush" yes "$words" 2> err > out
    echo $? > status.of
  )
}

# Lines, and nothing else; the last may be cut.
check_lines() {
  cmp -s -n "$(wc -c < out)" out lines || verdict="$verdict wrong lines;"
}

judge() {
  read -r status < status.of
  verdict=''
  case $status in
    1) grep -qxE 'yes: (standard output|the line): .+' err || verdict="no message;" ;;
    141) [ ! -s err ] || verdict="a message: $(head -c 100 err);" ;;
    *) verdict="status $status: $(head -c 100 err);" ;;
  esac
  check_lines
}

# Nothing but its reader's end ends it.
judge_go_on() {
  judge
  if [ "$way" = into_pipe ]; then
    [ "$status" = 141 ] || verdict="$verdict gave up: $(head -c 100 err)"
    [ "$(wc -c < out)" -eq "$bytes" ] || verdict="$verdict $(wc -c < out) bytes"
  fi
}

# try WHAT JUDGE: one injection at $call, $n; counts only if it took place
try() {
  inject="-e trace=$call -e inject=$call:$1:when=$n"
  "$way"
  grep -q INJECTED trace || return
  "$2"
  if [ -z "$verdict" ]; then good; else bad "$way: $call $n $1: $verdict"; fi
}

# each_call WAY BYTES [CALLS]
each_call() {
  way=$1 bytes=$2 inject='-e trace=all'
  "$way"
  judge_go_on
  is "$way, untouched" "$verdict" ''
  points trace "${3:-}" > list
  while read -r call n; do
    case $call in
      write | fstat | newfstatat) try error=EIO judge ;;
      vmsplice | tee | splice | pipe2 | mmap | madvise | openat | ioctl)
        for error in EPERM ENOSYS EINVAL ENOMEM; do try error=$error judge_go_on; done
        ;;
      *) try error=EPERM judge ;;
    esac
    case $call in
      write | vmsplice | tee)
        try error=EINTR judge_go_on
        try error=EAGAIN judge_go_on
        try retval=0 judge
        ;;
    esac
  done < list
}

begin pipe
each_call into_pipe 3000000
is 'at least 20 injections' "$((lib_checks >= 20))" 1
end
begin pipe_long
each_call into_pipe $most 'tee splice pipe2 openat vmsplice'
end
begin file
each_call into_file 0
end

begin control
way=into_pipe bytes=16
echo 141 > status.of
: > err
printf 'seven b\nseven b\n' > out
judge_go_on
is 'verdict of what is right' "$verdict" ''
printf 'seven b\nsevenXb\n' > out
judge_go_on
[ -n "$verdict" ] || bad 'a wrong line goes unnoticed'
printf 'seven b\n' > out
judge_go_on
[ -n "$verdict" ] || bad 'missing lines go unnoticed'
echo 1 > status.of
judge
[ -n "$verdict" ] || bad 'a missing message goes unnoticed'
good
end
finish
