#!/bin/sh
# Every system call that gush tee makes once it is loaded, failed by strace with an error or a false return value, at
# its first, second, middle and last time. Every output is complete then, or named with its error; what it has is
# never wrong. No signal ends tee, and nothing hangs. Which calls these are is found out by tracing.
# shellcheck disable=SC2317,SC2086,SC2002 # functions are called by computed names; options are words; cat is the writer
# shellcheck source=tests/cli/lib.inc
. "$(dirname "$0")/lib.inc"
need_strace tee_strace
cd "$tmp" || exit 1
awk 'BEGIN { for (i = 0; i < 280000; i++) print i }' > all # 1.8 MB
head -c 3000 all > little

# What loading costs: a run that ends at its first wrong option. Its message is no part of that.
strace -qq -o trace "$gush" tee --no-such-option 2> err
counts trace | awk '$1 == "write" { $2 = 0 } { print }' > base

# points TRACE: "call n" for the first, second, middle and last time after loading
points() {
  counts "$1" | awk -v base=base '
    BEGIN { while ((getline line < base) > 0) { split(line, f, " "); skip[f[1]] = f[2] } }
    # brk answers with an address, never with an error; of futex the C library makes an end itself.
    $1 ~ /^(execve|exit_group|exit|brk|futex)$/ { next }
    { n = $2 - skip[$1] }
    n > 0 { print $1, skip[$1] + 1 }
    n > 1 { print $1, skip[$1] + 2 }
    n > 4 && $1 ~ /^(read|write|splice|tee)$/ { print $1, skip[$1] + int(n / 2) }
    n > 2 { print $1, $2 }'
}

# Inputs and outputs: each runs $tool under strace and leaves its status in `status.of`, and what came out in `out`.
by_pipes() {
  cat "$input" | {
    timeout -k 1 20 strace -qq -o trace $inject "$gush" tee $options 2> err
    echo $? > status.of
  } | cat > out
}

from_file() {
  {
    timeout -k 1 20 strace -qq -o trace $inject "$gush" tee $options < "$input" 2> err
    echo $? > status.of
  } | cat > out
}

to_file() {
  cat "$input" | timeout -k 1 20 strace -qq -o trace $inject "$gush" tee $options 2> err > out
  echo $? > status.of
}

# check_output FILE NAME: all of the input, or the beginning of it and its name in a message; else says why not
check_output() {
  cmp -s "$1" "$input" && return
  if [ ! -e "$1" ]; then
    : > "$1"
  fi
  cmp -s -n "$(wc -c < "$1")" "$1" "$input" || verdict="$verdict $1 is wrong;"
  grep -qxE "tee: ($2|read error): .+" err || verdict="$verdict $1 is cut, and nothing said;"
}

judge() {
  read -r status < status.of
  verdict=''
  case $status in
    0) [ ! -s err ] || verdict='success with a message;' ;;
    1) [ -s err ] || verdict='failure without a message;' ;;
    *) verdict="status $status;" ;;
  esac
  grep -qvxE "tee: ('standard output'|f|g|read error|write error|standard input): .+" err && verdict="$verdict odd message;"
  check_output out "'standard output'"
  for name in $files; do check_output "$name" "$name"; done
  [ -z "$verdict" ] || verdict="$verdict $(head -c 200 err)"
}

# The kernel said that all is well when nothing was done: only an orderly end can be asked for, and no wrong bytes.
judge_lie() {
  judge
  verdict=$(echo "$verdict" | sed -e 's/ [a-z]* is cut, and nothing said;//g' -e 's/^ *tee:.*//' -e 's/^ *$//')
}

judge_go_on() {
  judge
  [ "$status" = 0 ] || verdict="gave up: $(head -c 200 err)"
}

# try WHAT JUDGE: one injection at $call, $n; counts only if it took place
try() {
  inject="-e trace=$call -e inject=$call:$1:when=$n"
  rm -f f g
  "$way"
  grep -q INJECTED trace || return
  "$2"
  if [ -z "$verdict" ]; then good; else bad "$way $options: $call $n $1: $verdict"; fi
}

# each_call WAY INPUT OPTIONS FILES
each_call() {
  way=$1 input=$2 options=$3 files=$4 inject='-e trace=all'
  rm -f f g
  "$way"
  judge_go_on
  is "$way $options, untouched" "$verdict" ''
  points trace > list
  while read -r call n; do
    try error=EIO judge
    case $call in
      fcntl | pipe2 | preadv2 | pwritev2 | splice | tee | ioctl) try error=EINVAL judge ;;
    esac
    case $call in
      read | write | splice | tee | poll | ppoll | preadv2 | pwritev2)
        try error=EINTR judge_go_on
        try error=EAGAIN judge_go_on
        ;;
      openat | pipe2) try error=EMFILE judge ;;
    esac
    case $call in
      mmap | munmap | mprotect | pipe2 | openat | newfstatat | fstat) ;; # what is not filled in cannot be told
      read | splice | preadv2) try retval=0 judge_lie ;; # an end is an end
      close) ;; # an end that stays open is never seen by the other
      pwritev2 | clone3 | rseq | set_robust_list) ;;
      write | tee | sendfile) try retval=0 judge ;;
      *)
        try retval=0 judge
        try retval=1 judge
        ;;
    esac
  done < list
}

begin stream
each_call by_pipes all 'f g' 'f g'
is 'at least 60 injections' "$((lib_checks >= 60))" 1
end
begin stream_nopipe
each_call by_pipes all '-p f' f
end
begin stream_append
each_call to_file all '-a f' f
end
begin stream_of_file
each_call from_file all '--output-error=warn f g' 'f g'
end
begin one_output
each_call by_pipes all '' ''
end
begin one_output_nopipe
each_call by_pipes all '-p' ''
end
begin little
each_call by_pipes little '-p f' f
each_call from_file little '-ia f g' 'f g'
end

# Where the call cannot be done without, its error comes out in words, for the right output.
begin must_fail
while read -r call n error text; do
  way=by_pipes input=little options='f g' files='f g'
  at=$(awk -v call="$call" '$1 == call { print $2 }' base)
  inject="-e trace=$call -e inject=$call:error=$error:when=$((${at:-0} + n))"
  rm -f f g
  "$way"
  judge
  is "$call $n" "$verdict" ''
  is "status of $call $n $error" "$status" 1
  is "stderr of $call $n $error" "$(cat err)" "tee: $(echo "$text" | tr _ ' ')"
done << 'LIST'
read 1 EIO read_error:_Input/output_error
write 1 ENOSPC 'standard_output':_No_space_left_on_device
write 2 EDQUOT f:_Disk_quota_exceeded
write 3 EIO g:_Input/output_error
openat 1 EACCES f:_Permission_denied
openat 2 EROFS g:_Read-only_file_system
close 1 EIO f:_Input/output_error
close 2 ENOSPC g:_No_space_left_on_device
close 3 EIO write_error:_Input/output_error
LIST
end

# Planted: outputs that are cut, wrong or silent. The judge must not have it.
begin control
input=little files=f
# planted STATUS MESSAGE OUT F
planted() {
  echo "$1" > status.of
  printf '%s' "$2" > err
  cp "$3" out
  cp "$4" f
  judge
  if [ -n "$verdict" ]; then good; else bad "not noticed: $*"; fi
}
nl='
'
head -c 2999 little > short
tr 1 2 < little > wrong
planted 0 '' little short
planted 1 '' little little
planted 0 "tee: f: x$nl" little little
planted 1 "tee: f: x$nl" short little
planted 1 "tee: f: x$nl" little wrong
planted 124 '' little little
planted 139 "tee: read error: x$nl" little little
planted 1 "tee: f: x${nl}oops$nl" little little
end
finish
