#!/bin/sh
# Every system call that gush write and gush read make once they are loaded, failed by strace with an error or a
# false return value, at its first, second and last time: they succeed, and then all is right, or fail with
# status 1 and one line. No signal ends them, and nothing hangs. Which calls these are is found out by tracing.
# shellcheck disable=SC2016,SC2317 # `ends` evaluates its two texts itself; functions are called by computed names
# shellcheck source=tests/cli/lib.inc
. "$(dirname "$0")/lib.inc"
need_strace pair_strace

# What loading costs: a run that ends at its first wrong option. Its one message is no part of that.
strace -qq -o "$tmp/trace" "$gush" write --no-such-option 2> "$tmp/err"
counts "$tmp/trace" | awk '$1 == "write" { $2-- } { print }' > "$tmp/base"

# points TRACE: "call n" for the first, second and last time after loading
points() {
  counts "$1" | awk -v base="$tmp/base" '
    BEGIN { while ((getline line < base) > 0) { split(line, f, " "); skip[f[1]] = f[2] } }
    # brk answers with an address, never with an error: neither can be made up.
    $1 ~ /^(execve|exit_group|brk)$/ { next }
    $2 > skip[$1] {
      print $1, skip[$1] + 1
      if ($2 > skip[$1] + 1) print $1, skip[$1] + 2
      if ($2 > skip[$1] + 2) print $1, $2
    }'
}

trace_writer() {
  ends 'timeout -k 1 10 strace -qq -o "$tmp/trace" $inject "$gush" write --bytes-to-pipe=1M $options' \
    '"$helpers/drain" X'
}

trace_reader() {
  ends '"$helpers/fill" 2000000' \
    'timeout -k 1 10 strace -qq -o "$tmp/trace" $inject "$gush" read --bytes-to-pipe=1M $options'
}

# Each judge leaves what is wrong in $verdict, or nothing.
judge_writer() {
  case "$wstatus,$werr,$rout" in
    '0,,1048576 bytes, 0 bad') verdict='' ;;
    0,*) verdict="success with \"$werr\" and $rout" ;;
    1,?*,*' bytes, 0 bad') judge_line "$werr" ;;
    *) verdict="status $wstatus, \"$werr\", $rout" ;;
  esac
}

judge_reader() {
  verdict=''
  if [ -n "$rout" ] && ! expr "x$rout" : "x$line\$" > "$tmp/expr"; then
    verdict="\"$rout\" is no right figure"
  elif [ "$rstatus" = 1 ]; then # with a figure perhaps, when closing standard output failed
    judge_line "$rerr"
  elif [ "$rstatus" != 0 ] || [ -n "$rerr" ] || [ -z "$rout" ]; then
    verdict="status $rstatus, \"$rerr\", \"$rout\""
  fi
}

judge_line() {
  verdict=''
  [ "$(echo "$1" | grep -c '^gush [a-z]*: ..*')" -eq 1 ] && [ "$(echo "$1" | wc -l)" -eq 1 ] ||
    verdict="not one line: \"$1\""
}

# After a lie of the kernel the count may be off; the end must still be an orderly one.
judge_lie() {
  verdict=''
  if [ "$end" = writer ]; then status=$wstatus err=$werr; else status=$rstatus err=$rerr; fi
  case $status in
    0) [ -z "$err" ] || verdict="success, but: $err" ;;
    1) judge_line "$err" ;;
    *) verdict="status $status, \"$err\"" ;;
  esac
}

# try WHAT JUDGE: one injection at $call, $n; counts only if it took place
try() {
  inject="-e trace=$call -e inject=$call:$1:when=$n"
  "trace_$end"
  grep -q INJECTED "$tmp/trace" || return
  "judge_$2"
  if [ -z "$verdict" ]; then good; else bad "$end $options: $call $n $1: $verdict"; fi
}

# The calls that move bytes take an interruption, and "try again", as no error at all.
must_go_on() {
  case $end,$call in
    writer,write | writer,pwritev2 | writer,vmsplice | reader,read | reader,preadv2 | reader,splice) ;;
    *) return ;;
  esac
  try error=EINTR go_on
  case $options in
    *huge*) ;; # there is a read of a file among them, too
    *) try error=EAGAIN go_on ;;
  esac
}

judge_go_on() {
  "judge_$end"
  if [ "$end" = writer ]; then status=$wstatus; else status=$rstatus; fi
  [ "$status" = 0 ] || verdict="gave up: $werr$rerr"
}

# each_call END OPTIONS LINE
# shellcheck disable=SC2034 # `ends` uses $inject
each_call() {
  end=$1 options=$2 line=${3:-} inject='-e trace=all'
  "trace_$end"
  "judge_$end"
  is "$end $options, untouched" "$verdict" ''
  points "$tmp/trace" > "$tmp/points"
  while read -r call n; do
    try error=EIO "$end"
    try error=EINVAL "$end"
    must_go_on
    case $call in
      mmap) ;; # an address that is none cannot be survived
      *) try retval=1 lie ;;
    esac
  done < "$tmp/points"
}

check=''
if have_huge_pages; then check='--huge-page --check-huge-page'; fi

begin writer
each_call writer ''
each_call writer "--busy-loop --lock-memory --pipe-size=64K $check"
each_call writer '--write-with-vmsplice --poll'
is 'at least 60 injections' "$((lib_checks >= 60))" 1
end

begin reader
each_call reader '' "$(figure 256KiB 4 1MiB)"
each_call reader "--busy-loop --lock-memory $check" "$(figure 256KiB 4 1MiB)"
each_call reader '--read-with-splice --poll --csv' '[0-9][0-9]*\.[0-9]*,1048576,[0-9,]*'
is 'at least 60 injections' "$((lib_checks >= 60))" 1
end

# Where the call cannot be done without, its error must come out, in words.
begin must_fail
# shellcheck disable=SC2034 # `ends` uses $inject
while read -r end call error text options; do
  n=$(awk -v call="$call" '$1 == call { print $2 }' "$tmp/base")
  inject="-e trace=$call -e inject=$call:error=$error:when=$((${n:-0} + 1))"
  "trace_$end"
  if [ "$end" = writer ]; then status=$wstatus err=$werr; else status=$rstatus err=$rerr; fi
  is "status of $end $call $error" "$status" 1
  matches "stderr of $end $call $error" "$err" "gush [a-z]*: .*$(echo "$text" | tr _ ' ')"
done << 'LIST'
writer write ENOSPC No_space_left_on_device
writer vmsplice ENOMEM Cannot_allocate_memory --write-with-vmsplice
writer ppoll ENOMEM Cannot_allocate_memory --poll
writer fcntl EPERM Operation_not_permitted
reader read EIO Input/output_error
reader write ENOSPC No_space_left_on_device
reader splice EINVAL is_not_possible;_leave_out_--read-with-splice --read-with-splice
reader openat EMFILE Too_many_open_files --read-with-splice
LIST
end

# What each option asks of the kernel: asked END OPTIONS, then lines "+ REGEX" (there is such a call) or "- REGEX".
# shellcheck disable=SC2034 # `ends` uses $inject
asked() {
  end=$1 options=$2 inject='-e trace=all'
  "trace_$end"
  while read -r sign regex; do
    found=no
    grep -q "$regex" "$tmp/trace" && found=yes
    if [ "$sign$found" = +yes ] || [ "$sign$found" = -no ]; then good; else bad "$end $options: $sign $regex"; fi
  done
}

begin asked
asked writer '' << 'LIST'
+ ^write(1, "X*"[.]*, 262144) *= 
+ madvise(.*, 262144, MADV_NOHUGEPAGE) *= 0
- ^pwritev2\|^p*poll\|^vmsplice\|^mlock\|F_SETPIPE_SZ\|F_SETFL\|MADV_HUGEPAGE\|pagemap
LIST
asked writer '--busy-loop --poll --pipe-size=128K --buf-size=64K --lock-memory' << 'LIST'
+ ^pwritev2(1, .*iov_len=65536}.*RWF_NOWAIT) *= 
+ ^ppoll(\[{fd=1, events=POLLOUT}\], 1, {tv_sec=0, tv_nsec=0}
+ ^fcntl(1, F_SETPIPE_SZ, 131072) *= 131072
+ ^mlock(.*, 65536) *= 0
- F_SETFL\|^write(1\|POLLIN\|, NULL, NULL, 0)
LIST
asked writer '--write-with-vmsplice --gift --poll' << 'LIST'
+ ^vmsplice(1, .*iov_len=262144}\], 1, SPLICE_F_GIFT) *= 
+ ^ppoll(\[{fd=1, events=POLLOUT}\], 1, NULL
+ ^fcntl(1, F_SETPIPE_SZ, 131072) *= 131072
- ^p*write[v2]*(1\|SPLICE_F_NONBLOCK
LIST
is 'buffers of --write-with-vmsplice' "$(grep -c '^madvise(.*, 262144, MADV_NOHUGEPAGE' "$tmp/trace")" 2
asked writer '--write-with-vmsplice --same-buffer --busy-loop --huge-page' << 'LIST'
+ ^vmsplice(1, .*iov_len=131072}\], 1, SPLICE_F_NONBLOCK) *= 
+ MADV_HUGEPAGE
- MADV_NOHUGEPAGE\|SPLICE_F_GIFT\|^p*poll\|^p*write[v2]*(1
LIST
asked reader '' << 'LIST'
+ ^read(0, .*, 262144) *= 
- ^preadv2\|^p*poll\|^splice\|^mlock\|F_SETFL\|MADV_HUGEPAGE\|/dev/null
LIST
asked reader '--busy-loop --poll --lock-memory --huge-page' << 'LIST'
+ ^preadv2(0, .*iov_len=262144}.*RWF_NOWAIT) *= 
+ ^ppoll(\[{fd=0, events=POLLIN}\], 1, {tv_sec=0, tv_nsec=0}
+ MADV_HUGEPAGE
+ ^mlock(
- F_SETFL\|^read(0\|POLLOUT\|MADV_NOHUGEPAGE
LIST
asked reader '--read-with-splice --gift --busy-loop --buf-size=64K' << 'LIST'
+ ^splice(0, NULL, 3, NULL, 65536, SPLICE_F_MOVE|SPLICE_F_NONBLOCK) *= 
- ^read(0\|^preadv2\|^madvise\|F_SETFL
LIST
asked reader '--read-with-splice --poll' << 'LIST'
+ ^splice(0, NULL, 3, NULL, 262144, 0) *= 
+ ^ppoll(\[{fd=0, events=POLLIN}\], 1, NULL
- SPLICE_F_
LIST
end

# Planted: a program that hides its failure, one that dies, one that hangs. The judges must not have it.
begin control
planted() {
  ends "$1" '"$helpers/drain" X'
  end=writer
  judge_writer
  if [ -n "$verdict" ]; then good; else bad "not noticed: $1"; fi
  judge_lie
  if [ -n "$verdict" ]; then good; else bad "not noticed as a lie: $1"; fi
}
planted '"$helpers/fill" 1000000; echo "gush write: failed" >&2; true'
planted '"$gush" write --bytes-to-pipe=1M; echo oops >&2; sh -c "kill -SEGV \$\$"'
planted 'timeout -k 1 0.2 sleep 5'
planted '"$gush" write --bytes-to-pipe=1M; echo "gush write: one" >&2; echo "gush write: two" >&2; (exit 1)'
ends '"$helpers/fill" 1000' 'echo 3.4GiB/s'
judge_reader
if [ -n "$verdict" ]; then good; else bad 'not noticed: a figure of nothing'; fi
end
finish
