#!/bin/sh
# gush write and gush read where things are scarce or forbidden: it works, or one line says what does not.
# With an argument it is itself the inside of such a place.
# shellcheck disable=SC2016 # `ends` evaluates its two texts itself
# shellcheck source=tests/cli/lib.inc
. "$(dirname "$0")/lib.inc"
page=$(getconf PAGESIZE)

# works OPTIONS-OF-WRITE OPTIONS-OF-READ [PREFIX-OF-BOTH]
works() {
  w=$1 r=$2 prefix=${3:-}
  ends '$prefix "$gush" write $w' '$prefix "$gush" read --bytes-to-pipe=4M $r'
  is "$prefix write $w | read $r" "$wstatus$werr $rstatus$rerr" '0 0'
  ends '$prefix "$gush" write $w --bytes-to-pipe=3000001' '"$helpers/drain" X'
  is "$prefix write $w" "$wstatus$werr $rout" '0 3000001 bytes, 0 bad'
}

# write_fails LINE OPTIONS [PREFIX]: status 1, that line, and not a wrong byte
write_fails() {
  w=$2 prefix=${3:-}
  ends '$prefix "$gush" write $w' '"$helpers/drain" X 3000000'
  is "status of $prefix write $w" "$wstatus" 1
  is "stderr of $prefix write $w" "$werr" "gush write: $1"
  matches "bytes of $prefix write $w" "$rout" '[0-9]* bytes, 0 bad'
}

read_fails() {
  r=$2 prefix=${3:-}
  ends '"$helpers/fill" 5000000' '$prefix "$gush" read --bytes-to-pipe=4M $r'
  is "status of $prefix read $r" "$rstatus" 1
  is "stderr of $prefix read $r" "$rerr" "gush read: $1"
  is "stdout of $prefix read $r" "$rout" ''
}

# usable COMMAND...: the helper works here; else the case is skipped with its reason
usable() {
  run "$@" true
  [ "$status" -ne 77 ] || skip "$lib_name" "$err"
  [ "$status" -ne 77 ]
}

inside_one_cpu() {
  begin one_cpu
  for w in '' --poll --busy-loop '--busy-loop --poll' '--write-with-vmsplice --busy-loop'; do
    for r in '' --poll --busy-loop '--busy-loop --poll' '--read-with-splice --busy-loop'; do
      works "$w" "$r"
    done
  done
  end
}

# New pipes have two pages here, and may not grow.
inside_soft_limit() {
  begin pipe_user_pages_soft
  refused="is refused: past /proc/sys/fs/pipe-max-size, or past this user's share (pipe-user-pages-soft); ask \
for less"
  works '' ''
  works --busy-loop '--read-with-splice --poll'
  works "--write-with-vmsplice --buf-size=$((4 * page))" ''
  works "--pipe-size=$((2 * page))" ''
  write_fails "a pipe of 128KiB $refused" --write-with-vmsplice
  write_fails "a pipe of 1MiB $refused" --pipe-size=1M
  end
}

inside_memlock() {
  begin rlimit_memlock
  locking="locking a buffer of 256KiB; raise 'ulimit -l' or leave out --lock-memory"
  # shellcheck disable=SC3045 # not in POSIX, but in every sh of Linux
  ulimit -l 0
  works '' ''
  write_fails "$locking: Operation not permitted" --lock-memory
  read_fails "$locking: Operation not permitted" --lock-memory
  end
}

case ${1:-} in
  one_cpu) inside_one_cpu ;;
  soft_limit) inside_soft_limit ;;
  memlock) inside_memlock ;;
esac
[ $# -eq 0 ] || finish

# A copy that a user without rights can reach.
mkdir -p "$tmp/build/tests/helpers" "$tmp/cli"
cp "$gush" "$tmp/build/" && cp "$helpers"/* "$tmp/build/tests/helpers/" &&
  cp "$here/lib.inc" "$here/pair_places.sh" "$tmp/cli/" && chmod -R go+rX "$tmp" || exit 1

# inside PLACE COMMAND...: the copy of this script, in the place that the command leads to
inside() {
  place=$1
  shift
  (cd "$tmp" && O=$tmp/build timeout -k 5 60 "$@" sh "$tmp/cli/pair_places.sh" "$place") > "$tmp/inside" 2>&1
  inside=$?
  if [ $inside -eq 77 ]; then
    skip "$place" "$(cat "$tmp/inside")"
    return
  fi
  cat "$tmp/inside"
  if [ $inside -eq 0 ] && grep -q '^ok ' "$tmp/inside"; then
    lib_passed=$((lib_passed + 1))
  else
    fail "inside_$place" "exit status $inside"
  fi
}

inside one_cpu "$helpers/one_cpu"
if [ "$(id -u)" -eq 0 ]; then
  inside soft_limit "$helpers/as_nobody" "$helpers/soft_limit"
else
  skip soft_limit 'only root can give up rights'
fi
if [ -n "${SAN:-}" ]; then
  skip memlock_under_sanitizers 'they make mlock do nothing'
elif [ "$(id -u)" -eq 0 ]; then
  inside memlock "$helpers/as_nobody"
else
  inside memlock env
fi

begin no_huge_pages
if usable "$helpers/no_thp"; then
  refused="the buffer did not become huge pages; see /sys/kernel/mm/transparent_hugepage/enabled, or leave out \
--check-huge-page"
  for more in '' --lock-memory --write-with-vmsplice '--write-with-vmsplice --same-buffer'; do
    write_fails "$refused" "--huge-page --check-huge-page $more" "$helpers/no_thp"
  done
  read_fails "$refused" '--huge-page --check-huge-page' "$helpers/no_thp"
  works '--huge-page --write-with-vmsplice' --huge-page "$helpers/no_thp"
  have_huge_pages && works '--huge-page --check-huge-page' '--huge-page --check-huge-page'
  end
fi

# limited LIMIT VALUE COMMAND...: the shell's ulimit, for the command alone
cat > "$tmp/limited" << 'SCRIPT'
ulimit "$1" "$2" && shift 2 && exec "$@"
SCRIPT
limited="sh $tmp/limited"

# One descriptor more than the standard ones is all they need at a time.
begin descriptor_limit
for options in '' --busy-loop '--huge-page --poll' --lock-memory; do
  works "$options" "$options" "$limited -n 4"
done
works --write-with-vmsplice --read-with-splice "$limited -n 4"
works '--write-with-vmsplice --busy-loop' '--read-with-splice --busy-loop --poll' "$limited -n 4"
end

if [ -z "${SAN:-}" ]; then
  begin memory_limit
  write_fails 'a buffer of 1GiB: Cannot allocate memory' --buf-size=1G "$limited -v 200000"
  read_fails 'a buffer of 1GiB: Cannot allocate memory' --buf-size=1G "$limited -v 200000"
  write_fails 'a buffer of 1GiB in huge pages: Cannot allocate memory' '--buf-size=1G --huge-page' \
    "$limited -v 200000"
  works --buf-size=32M --buf-size=16M "$limited -v 200000"
  end
else
  skip memory_limit_under_sanitizers 'they need more than any limit'
fi

# A sandbox: what a call is not needed for works without it, what it is needed for says so.
begin seccomp
if usable "$helpers/deny" splice EPERM; then
  for error in EPERM ENOSYS; do
    [ $error = EPERM ] && text='Operation not permitted' || text='Function not implemented'
    deny="$helpers/deny vmsplice,splice,tee,preadv2,pwritev2,mlock,ppoll,clone3 $error"
    works '' '' "$deny"
    works --busy-loop --busy-loop "$deny" # without preadv2 it opens the pipe again
    write_fails "vmsplice to standard output (pipe): $text" --write-with-vmsplice "$deny"
    read_fails "splice from standard input (pipe): $text" --read-with-splice "$deny"
    write_fails "poll to standard output (pipe): $text" --poll "$deny"
    read_fails "poll from standard input (pipe): $text" --poll "$deny"
    if [ -z "${SAN:-}" ]; then
      locking="locking a buffer of 256KiB; raise 'ulimit -l' or leave out --lock-memory"
      write_fails "$locking: $text" --lock-memory "$deny"
      read_fails "$locking: $text" --lock-memory "$deny"
      write_fails "a buffer of 256KiB: $text" '' "$helpers/deny madvise $error"
      write_fails "a buffer of 256KiB in huge pages: $text" --huge-page "$helpers/deny madvise $error"
      read_fails "a buffer of 256KiB: $text" '' "$helpers/deny madvise $error"
    fi
    write_fails "output: $text" '' "$helpers/deny fcntl $error"
    read_fails "input: $text" '' "$helpers/deny fcntl $error"
  done
  end
fi

# A filter may kill: the other end must not take that for a good end, nor wait.
begin killed_by_seccomp
if usable "$helpers/deny" splice KILL; then
  ends '"$helpers/deny" vmsplice KILL "$gush" write --write-with-vmsplice' '"$gush" read'
  is 'status of the writer' "$wstatus" 159 # 128 + SIGSYS
  is 'status of the reader' "$rstatus" 1
  is 'stderr of the reader' "$rerr" \
    'gush read: the input ended after 0 of 10737418240 bytes: the writer has died or stopped early'
  is 'stdout of the reader' "$rout" ''
  ends '"$gush" write' '"$helpers/deny" splice KILL "$gush" read --read-with-splice'
  is 'status of the reader that was killed' "$rstatus" 159
  is 'its writer' "$wstatus$werr" 0
  end
fi
finish
