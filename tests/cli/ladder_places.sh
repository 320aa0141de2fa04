#!/bin/sh
# gush ladder where something is missing or forbidden: those steps say why, the rest runs, and the status is 0.
# shellcheck source=tests/cli/lib.inc
. "$(dirname "$0")/lib.inc"
# shellcheck source=tests/cli/ladder.inc
. "$(dirname "$0")/ladder.inc"
cpu=$(sed -n 's/^Cpus_allowed_list:[[:space:]]*\([0-9]*\).*/\1/p' /proc/self/status)

# usable COMMAND...: the helper works here; else the case is skipped with its reason
usable() {
  run "$@" true
  [ "$status" -ne 77 ] || skip "$lib_name" "$err"
  [ "$status" -ne 77 ]
}

# there PREFIX... -- STEPS: runs these steps in that place, on one CPU, into $tmp/csv
there() {
  set_prefix=
  while [ "$1" != -- ]; do
    set_prefix="$set_prefix $1"
    shift
  done
  # shellcheck disable=SC2086 # the words of the prefix
  run $set_prefix "$gush" ladder --quick --rounds 1 --cpus "$cpu" --only "$2" --csv -
  cp "$tmp/out" "$tmp/csv"
  is "status $set_prefix" "$status" 0
  is "diagnostics $set_prefix" "$(grep '^gush' "$tmp/err")" ''
  # What the table says is what the CSV says.
  is "rows not here $set_prefix" "$(tr -s ' \n' ' ' < "$tmp/err" | grep -o 'not here: [a-z]' | wc -l)" \
    "$(grep -c ',skipped,' "$tmp/csv")"
}

begin ladder_no_huge_pages
if usable "$helpers/no_thp"; then
  there "$helpers/no_thp" -- write-read,vmsplice-read,one-cpu,protect,limit
  ran write-read
  ran vmsplice-read
  for step in one-cpu protect limit; do
    not_here "$step" 'no huge pages: '
  done
  end
fi

# forbidden ERROR REASON: vmsplice fails so
forbidden() {
  begin "ladder_vmsplice_$1"
  usable "$helpers/deny" vmsplice "$1" || return 0
  there "$helpers/deny" vmsplice "$1" -- write-read,vmsplice-read,fill-write,limit,protect
  ran write-read
  ran fill-write
  not_here vmsplice-read "$2"
  have_huge_pages && not_here limit "$2"
  not_here protect .
  end
}
forbidden EPERM 'vmsplice: forbidden here (Operation not permitted): a sandbox?'
forbidden ENOSYS 'vmsplice: not in this kernel, or forbidden by a sandbox (Function not implemented)'
forbidden KILL 'a sandbox kills processes .*(SIGSYS)'

begin ladder_splice_and_tee_forbidden
if usable "$helpers/deny" splice,tee EPERM; then
  there "$helpers/deny" splice,tee EPERM -- vmsplice-read,vmsplice-splice,tee-master
  ran vmsplice-read
  not_here vmsplice-splice 'splice: forbidden here'
  ! have_huge_pages || not_here tee-master ': forbidden here'
  end
fi

begin ladder_one_cpu
if usable "$helpers/one_cpu"; then
  run "$helpers/one_cpu" "$gush" ladder --quick --rounds 1 --only write-read,busy-loop,fill-write --csv "$tmp/csv"
  is status "$status" 0
  is stderr "$err" ''
  not_here write-read 'needs two CPUs, and this process may use only CPU [0-9]*'
  is 'rows of busy-loop' "$(grep -c '^busy-loop,' "$tmp/csv")" 2
  is 'rows of busy-loop without a place' "$(grep -c '^busy-loop,,skipped,' "$tmp/csv")" 1
  is 'the table says so' "$(grep -c '^write-read  *-  *not here: needs two CPUs' "$tmp/out")" 1
  end
fi

begin ladder_soft_limit
if [ "$(id -u)" -ne 0 ]; then
  skip "$lib_name" 'needs root, to become a user without rights'
elif usable "$helpers/as_nobody" "$helpers/soft_limit"; then
  there "$helpers/as_nobody" "$helpers/soft_limit" -- write-read,limit,fill-write,mem-read
  ran mem-read
  for step in write-read fill-write; do
    not_here "$step" "a pipe that large is refused: .*pipe-user-pages-soft"
  done
  ! have_huge_pages || not_here limit "a pipe that large is refused"
  end
fi

# ran_or_refused STEP: other processes of that user may hold its share of pipes just now
ran_or_refused() {
  case $(row "$1") in
    *,skipped,*'a pipe that large is refused'*) good ;;
    *) ran "$1" ;;
  esac
}

begin ladder_as_nobody
if [ "$(id -u)" -ne 0 ]; then
  skip "$lib_name" 'needs root, to become a user without rights'
else
  there "$helpers/as_nobody" -- write-read,one-cpu,tee-master,limit
  ran_or_refused write-read
  ! have_huge_pages || ran_or_refused one-cpu
  ! have_huge_pages || ran_or_refused limit
  is 'other reasons' "$(grep ',skipped,' "$tmp/csv" | grep -v 'pipe that large is refused\|huge pages')" ''
  end
fi

begin ladder_few_descriptors
run sh -c 'ulimit -n 11 && exec "$0" ladder --quick --rounds 1 --cpus "$1" --only write-read,memcpy --csv -' "$gush" \
  "$cpu"
cp "$tmp/out" "$tmp/csv"
is status "$status" 0
not_here write-read "too few descriptors: raise 'ulimit -n'"
end

begin ladder_lab_missing
cp "$gush" "$tmp/gush"
chmod 755 "$tmp/gush"
run "$tmp/gush" ladder --list
case $status in
  127) matches stderr "$err" "gush: 'ladder' needs gush-lab, which is neither beside gush nor in .*" ;;
  *) is 'status with an installed gush-lab' "$status" 0 ;;
esac
end
finish
