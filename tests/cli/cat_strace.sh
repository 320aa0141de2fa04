#!/bin/sh
# Every system call that cat makes once it is loaded, failed by strace with an error or a false return value, at
# its first, second and last time. It succeeds with all the bytes, or fails with status 1, one line and the first
# part of them; it never hangs. Which calls these are is found out by tracing.
# shellcheck disable=SC2086,SC2317 # lists of words without quotes; functions are called by computed names
# shellcheck source=tests/cli/lib.inc
. "$(dirname "$0")/lib.inc"
need_strace cat_strace
unset GUSH_METHOD GUSH_STABLE GUSH_POLICY
ln -s "$gush" "$tmp/cat"
awk 'BEGIN { for (i = 0; i < 40000; i++) printf "%d%s", i * 7919, i % 5 ? "\n" : "\t\n\n" }' > "$tmp/in"
command cat -n "$tmp/in" > "$tmp/numbered"
{ echo before; command cat "$tmp/in"; } > "$tmp/appended"
command cat "$tmp/in" "$tmp/in" "$tmp/in" > "$tmp/thrice"

# ---- flows: each runs $traced cat, and leaves what came out in $tmp/out; $want names what should ----

from_file_to_file() { $traced "$tmp/cat" $options "$tmp/in" > "$tmp/out"; }
from_file_to_append() {
  echo before > "$tmp/out"
  $traced "$tmp/cat" $options "$tmp/in" >> "$tmp/out"
}
# The status of cat, when it is not the last of its pipe.
noted() {
  "$@"
  echo $? > "$tmp/status"
}
from_file_to_pipe() {
  noted $traced "$tmp/cat" $options "$tmp/in" | command cat > "$tmp/out"
  read -r status < "$tmp/status"
  return "$status"
}
from_pipe_to_pipe() {
  command cat "$tmp/in" 2> "$tmp/feeder" | noted $traced "$tmp/cat" $options | command cat > "$tmp/out"
  read -r status < "$tmp/status"
  return "$status"
}
from_pipe_to_file() { command cat "$tmp/in" 2> "$tmp/feeder" | $traced "$tmp/cat" $options > "$tmp/out"; }
from_three_to_file() {
  command cat "$tmp/in" 2> "$tmp/feeder" | $traced "$tmp/cat" $options "$tmp/in" - "$tmp/in" > "$tmp/out"
}

flow() {
  traced="timeout -k 1 10 strace -qq -o $tmp/trace $inject"
  "from_$name" 2> "$tmp/err"
  status=$?
  err=$(command cat "$tmp/err")
}

# ---- judging ----

# The first part of what is wanted, and no other byte. Of several inputs one may lack its end.
is_part() {
  [ "$name" = three_to_file ] || ! cmp "$tmp/out" "$tmp/$want" 2> "$tmp/lib.err" | grep -q differ
}

judge() {
  verdict=''
  case $status in
    0)
      [ -z "$err" ] || verdict="success, but: $err"
      cmp -s "$tmp/out" "$tmp/$want" || verdict="success, but the output is not right"
      ;;
    1)
      [ "$(grep -c '^cat: [^:]*: [A-Z][^:]*$\|^cat: memory exhausted$' "$tmp/err")" -eq 1 ] && [ "$(wc -l < "$tmp/err")" -eq 1 ] ||
        verdict="not one line: $err"
      is_part || verdict="$err, and wrong bytes in the output"
      ;;
    *) verdict="status $status: $err" ;;
  esac
}

judge_success() {
  judge
  [ "$status" -eq 0 ] || verdict="gave up: $err"
}

# After a lie of the kernel bytes may lack; it must end, and in order.
judge_end() {
  verdict=''
  case $status in
    0) [ -z "$err" ] || verdict="success, but: $err" ;;
    1) [ "$(grep -c '^cat: ..*' "$tmp/err")" -eq 1 ] || verdict="not one line: $err" ;;
    *) verdict="status $status: $err" ;;
  esac
}

counts() {
  sed -n 's/^\([a-z][a-z0-9_]*\)(.*/\1/p' "$1" | sort | uniq -c | awk '{ print $2, $1 }'
}

# What loading costs: a run that ends at its first wrong option. Its two messages are no part of that.
strace -qq -o "$tmp/trace" "$tmp/cat" --no-such-option 2> "$tmp/err"
counts "$tmp/trace" | awk '$1 == "write" { $2 -= 2 } { print }' > "$tmp/base"

points() {
  counts "$1" | awk -v base="$tmp/base" '
    BEGIN { while ((getline line < base) > 0) { split(line, f, " "); skip[f[1]] = f[2] } }
    # brk answers with an address, never with an error: neither can be made up. libc aborts when futex fails.
    $1 ~ /^(execve|exit_group|brk|futex)$/ { next }
    $2 > skip[$1] {
      print $1, skip[$1] + 1
      if ($2 > skip[$1] + 1) print $1, skip[$1] + 2
      if ($2 > skip[$1] + 2) print $1, $2
    }'
}

# try WHAT JUDGE: one injection at $call, $n; counts only if it took place
try() {
  inject="-e trace=$call -e inject=$call:$1:when=$n"
  flow
  grep -q INJECTED "$tmp/trace" || return
  "$2"
  if [ -z "$verdict" ]; then good; else bad "$name $options: $call $n $1: $verdict"; fi
}

inject_all() {
  try error=EIO judge
  try error=EINVAL judge
  try error=ENOMEM judge
  case $call in
    read | write | splice | sendfile | copy_file_range)
      try error=EINTR judge_success
      try error=EAGAIN judge_success
      try error=ENOSPC judge
      ;;
  esac
  case $call in
    mmap | openat) ;; # an address that is none, and the number of another descriptor, cannot be survived
    # These say so of files that claim to have no bytes: the end is doubted.
    copy_file_range | sendfile) try retval=0 judge_success ;;
    *)
      try retval=0 judge_end
      try retval=1 judge_end
      ;;
  esac
}

# each_call NAME WANT [OPTION]...
each_call() {
  name=$1 want=$2 inject='-e trace=all'
  shift 2
  options=$*
  flow
  judge_success
  is "$name $options, untouched" "$verdict" ''
  points "$tmp/trace" > "$tmp/points"
  while read -r call n; do
    inject_all
  done < "$tmp/points"
}

begin plain
each_call file_to_file in
each_call file_to_pipe in
each_call file_to_pipe in --stable
each_call pipe_to_pipe in
each_call pipe_to_file in
each_call file_to_append appended
each_call three_to_file thrice
is 'at least 200 injections' "$((lib_checks >= 200))" 1
echo "# $lib_checks injections"
end

begin formatted
each_call file_to_file numbered -n
each_call pipe_to_pipe numbered -n
is 'at least 60 injections' "$((lib_checks >= 60))" 1
echo "# $lib_checks injections"
end

# Where the call cannot be done without, its error must come out, and name the right side.
begin must_fail
while read -r name want call error text options; do
  n=$(awk -v call="$call" '$1 == call { print $2 }' "$tmp/base")
  inject="-e trace=$call -e inject=$call:error=$error:when=$((${n:-0} + 1))"
  flow
  is "status of $name $options $call $error" "$status" 1
  matches "stderr of $name $options $call $error" "$err" "cat: $(echo "$text" | tr _ ' ')"
done << 'LIST'
pipe_to_pipe numbered read EIO -:_Input/output_error -n
pipe_to_pipe numbered write ENOSPC write_error:_No_space_left_on_device -n
file_to_file numbered read EISDIR /.*/in:_Is_a_directory -n
file_to_file numbered write EDQUOT write_error:_Disk_quota_exceeded -n
file_to_file in copy_file_range ENOSPC write_error:_No_space_left_on_device
file_to_file in openat EMFILE /.*/in:_Too_many_open_files
file_to_append appended write EIO write_error:_Input/output_error --stable
LIST
end

# Planted: what hides its failure, loses bytes, or dies. The judge must not have it.
begin control
name=planted want=in options=''
planted() {
  echo "$2" > "$tmp/err"
  [ -n "$2" ] || : > "$tmp/err"
  status=$1 err=$2
  judge
  if [ -n "$verdict" ]; then good; else bad "not noticed: $1 $2 $3"; fi
}
head -c 100000 "$tmp/in" > "$tmp/out"
planted 0 '' 'bytes lack'
planted 1 '' 'no message'
planted 1 'cat: a: One
cat: b: Two' 'two messages'
planted 139 '' 'a signal'
tr 1 2 < "$tmp/in" > "$tmp/out"
planted 1 'cat: write error: No space left on device' 'other bytes'
cp "$tmp/in" "$tmp/out"
planted 0 'cat: write error: No space left on device' 'a message'
end
finish
