#!/bin/sh
# Bad usage: one line that names what and why, status 2, nothing on standard output, nothing done.
# shellcheck source=tests/cli/lib.inc
. "$(dirname "$0")/lib.inc"
ulimit -f 4096 # blocks of 512: a writer that is not refused after all does not fill the disk
size='is not a size such as 4096, 64K, 1M or 2GiB'

# refused TOOL LINE [ARGUMENT]...: the line without "gush TOOL: " and without the hint
refused() {
  tool=$1 line="gush $1: $2; see 'gush $1 --help'"
  shift 2
  run "$gush" "$tool" "$@" < /dev/zero
  is "status of $tool $*" "$status" 2
  is "stderr of $tool $*" "$err" "$line"
  is "stdout of $tool $*" "$out" ''
}

both() {
  refused write "$@"
  refused read "$@"
}

begin bad_sizes
for option in buf-size bytes-to-pipe pipe-size; do
  for value in -1 +1 1Z 1.5M '' 0 0K x K ' 1' '1 ' 1KK 1iB 0x10 1e6 12,5 1M1 M1; do
    both "--$option: '$value' $size" "--$option=$value"
    both "--$option: '$value' $size" "--$option" "$value"
  done
  for value in 9999999E 8E 99999999999999999999 18446744073709551616 9223372036854775808; do
    both "--$option: '$value' is too large" "--$option=$value"
  done
done
both '--buf-size is too large' --buf-size=7E
end

begin unknown_options
both "unknown option '--foo'" --foo
both "unknown option '--foo'" --foo=3
both "unknown option '--pollute'" --pollute
both "unknown option '-z'" -z
both "unknown option '-1'" -1
both "unknown option '-z'" -vz
both "unknown option '--Poll'" --Poll
both "unknown option '---poll'" ---poll
end

begin ambiguous_options
both "option '--p' is ambiguous" --p
both "option '--p' is ambiguous" --p=1M
both "option '--h' is ambiguous" --h
both "option '--b' is ambiguous" --b
both "option '--bu' is ambiguous" --bu
both "option '--ver' is ambiguous" --ver
both "option '--' is ambiguous" --=3
end

begin flags_take_no_value
for flag in busy-loop poll huge-page check-huge-page write-with-vmsplice read-with-splice gift lock-memory \
  dont-touch-pages same-buffer csv verbose help version; do
  both "--$flag takes no value" "--$flag=1"
  both "--$flag takes no value" "--$flag="
done
both '--poll takes no value' --pol=1
both '--busy-loop takes no value' --busy_loop=yes
end

begin values_missing
both '--buf-size needs a value (SIZE)' --buf-size
both '--pipe-size needs a value (SIZE)' --poll --pipe_size
both '--bytes-to-pipe needs a value (SIZE)' --by
end

begin operands
both "'x': takes no operands" x
both "'-': takes no operands" -
both "'x': takes no operands" --poll x --gift
both "'--poll': takes no operands" -- --poll
both "'': takes no operands" ''
end

begin contradictions
both '--check-huge-page needs --huge-page' --check-huge-page
both '--check-huge-page and --dont-touch-pages contradict: a page is huge or not only once touched' \
  --huge-page --check-huge-page --dont-touch-pages
refused write "--pipe-size and --write-with-vmsplice contradict: the pipe is half of --buf-size then" \
  --pipe-size=64K --write-with-vmsplice
refused write '--write-with-vmsplice needs an even --buf-size' --write-with-vmsplice --buf-size=65537
end

# The first error is the one that is told, once.
begin one_error_at_a_time
both "unknown option '--foo'" --foo --bar x
both "--buf-size: '1Z' $size" --buf-size=1Z --foo
end

begin no_command
run "$gush"
is status "$status" 2
is stderr "$err" "gush: no command; see 'gush --help'"
is stdout "$out" ''
for name in foo -x --verbose '' Read read/; do
  run "$gush" "$name"
  is "status of '$name'" "$status" 2
  is "stderr of '$name'" "$err" "gush: '$name' is no command; see 'gush --help'"
  is "stdout of '$name'" "$out" ''
done
end

# What is right, in all its spellings: none of it may be refused.
begin accepted
for arguments in --buf-size=4096 '--buf-size 4096' --buf_size=4K --buf-size=4k --buf-size=4KiB --buf-size=4KB \
  --buf-size=4096B --buf=4K '--buf 4K' --verb -v -vv --po '--ch --hu' '--csv --csv' '--poll --'; do
  case $arguments in *--ch*) have_huge_pages || continue ;; esac
  # shellcheck disable=SC2086 # two words at times
  run "$gush" read --bytes-to-pipe=1K $arguments < /dev/zero
  is "status of read $arguments" "$status" 0
  is "lines of read $arguments" "$(grep -c . "$tmp/out")" 1
done
end
finish
