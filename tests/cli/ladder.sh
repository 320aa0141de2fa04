#!/bin/sh
# gush ladder: what it refuses, what it prints where, and what it writes to files.
# shellcheck disable=SC2016,SC2086 # `ends` and `eval` expand their texts themselves; $tiny is several words
# shellcheck source=tests/cli/lib.inc
. "$(dirname "$0")/lib.inc"
# shellcheck source=tests/cli/ladder.inc
. "$(dirname "$0")/ladder.inc"
unset NO_COLOR
# One row that runs anywhere and needs no memory to speak of.
cpu=$(sed -n 's/^Cpus_allowed_list:[[:space:]]*\([0-9]*\).*/\1/p' /proc/self/status)
tiny="--quick --rounds 1 --only write-read --cpus $cpu"
steps='write-read write-read-huge vmsplice-read vmsplice-splice vmsplice-splice-huge busy-loop full-capacity
one-cpu adaptive tee-master fill-write fill-unsafe protect limit mem-read memcpy'
ablations='gift same-buffer dont-touch-pages lock-memory pipe-64K pipe-128K pipe-256K pipe-512K pipe-1M'

begin ladder_bad_sizes
size='is not a size such as 4096, 64K, 1M or 2GiB'
for value in -1 1Z '' 0 x 1.5M ' 1'; do
  refused "--bytes: '$value' $size" "--bytes=$value"
  refused "--bytes: '$value' $size" --bytes "$value"
done
refused "--bytes: '9999999E' is too large" --bytes=9999999E
for value in -1 0 x 1.5 '' 3x; do
  refused "--rounds: '$value' is not a whole number, at least 1" --rounds "$value"
done
refused "--rounds: '9999999999' is too large" --rounds 9999999999
end

begin ladder_bad_usage
refused "unknown option '--foo'" --foo
refused "unknown option '-z'" -z
refused "'x': takes no operands" x
refused "--quick takes no value" --quick=1
refused '--only needs a value (STEP,...)' --only
refused "--only: 'foo' is no step; --list names them" --only foo
refused "--only: 'foo' is no step; --list names them" --only limit,foo,bar
refused "--only: '' is no step; --list names them" --only ''
refused '--only and --all contradict: --only may name ablations itself' --only limit --all
refused '--json and --csv cannot both go to standard output' --json - --csv -
refused "--json and --csv need the name of a file, or '-'" --json ''
refused "--json and --csv need the name of a file, or '-'" --csv ''
for cpus in x '0,' ',' 0,1,2 -1 0-1 ''; do
  refused "--cpus: '$cpus' is not two CPU numbers such as 0,1" --cpus "$cpus"
done
refused "--cpus: '0,99999' names a CPU that this process may not use" --cpus 0,99999
end

begin ladder_same_file
run "$gush" ladder $tiny --json "$tmp/same" --csv "$tmp/same"
is status "$status" 2
matches stderr "$err" "gush ladder: --json and --csv name the same file, '$tmp/same'.*"
run "$gush" ladder $tiny --json "$tmp/same" --csv "$tmp/../${tmp##*/}/same"
is 'status of the same by another path' "$status" 2
end

begin ladder_bad_paths
ladder --only memcpy --json "$tmp/none/file"
is status "$status" 1
is stderr "$err" "gush ladder: $tmp/none/file: No such file or directory"
is stdout "$out" ''
ladder --only memcpy --csv "$tmp"
is status "$status" 1
is stderr "$err" "gush ladder: $tmp: Is a directory"
end

begin ladder_unwritable_path
mkdir "$tmp/closed"
: > "$tmp/closed/file"
chmod 444 "$tmp/closed/file"
chmod 755 "$tmp" "$tmp/closed"
as=
[ "$(id -u)" -ne 0 ] || as=$helpers/as_nobody
# shellcheck disable=SC2086 # empty at times
run $as "$gush" ladder --quick --only memcpy --json "$tmp/closed/file"
is status "$status" 1
is stderr "$err" "gush ladder: $tmp/closed/file: Permission denied"
is stdout "$out" ''
end

begin ladder_list
run "$gush" ladder --list
is status "$status" 0
is stderr "$err" ''
for step in $steps $ablations; do
  is "lines of $step" "$(grep -c "^  $step  *[a-zA-Z]" "$tmp/out")" 1
done
is 'ablations said to need --all' "$(grep -c '(with --all)' "$tmp/out")" 1
COLUMNS=60 run "$gush" ladder --list --explain
is 'status of --explain' "$status" 0
is 'lines over 60 columns' "$(awk 'length > 60' "$tmp/out")" ''
is 'why protect' "$(tr -s ' \n' ' ' < "$tmp/out" | grep -c 'copied by a clone that fails')" 1
end

# Everything in its place: the bars on standard output, the files complete, nothing on standard error.
begin ladder_files
echo 'old and much longer than nothing' > "$tmp/csv"
TERM=xterm COLUMNS=100 ladder --only one-cpu,memcpy --json "$tmp/json" --csv "$tmp/csv"
is status "$status" 0
is stderr "$err" ''
check_json "$tmp/json"
json_is partial .partial false
json_is names '[.steps[].name]' '["one-cpu","memcpy"]'
json_is rounds .settings.rounds 1
is 'lines of CSV' "$(wc -l < "$tmp/csv" | tr -d ' ')" 3
matches 'first line of CSV' "$(head -n 1 "$tmp/csv")" 'step,placement,status,gib_per_s,.*,reason'
ran memcpy
is 'titles' "$(grep -c '^step  *where  *GiB/s' "$tmp/out")" 1
is 'rows of the table' "$(grep -c '^memcpy  *alone ' "$tmp/out")" 1
is 'colour' "$(tr -cd '\033' < "$tmp/out" | wc -c | tr -d ' ')" 0
is 'lines over 100 columns' "$(awk 'length > 100' "$tmp/out")" ''
end

begin ladder_json_to_stdout
run "$gush" ladder $tiny --json -
is status "$status" 0
cp "$tmp/out" "$tmp/json"
check_json "$tmp/json"
json_is names '[.steps[].name]' '["write-read"]'
is 'the table, on standard error' "$(grep -c '^write-read  *by-hand ' "$tmp/err")" 1
is 'progress without a terminal' "$(grep -c 'warming up' "$tmp/err")" 0
end

begin ladder_csv_to_stdout
run "$gush" ladder $tiny --csv - --json "$tmp/json"
is status "$status" 0
cp "$tmp/out" "$tmp/csv"
is 'lines of CSV' "$(wc -l < "$tmp/csv" | tr -d ' ')" 2
ran write-read
is 'the table, on standard error' "$(grep -c '^write-read  *by-hand ' "$tmp/err")" 1
check_json "$tmp/json"
end

begin ladder_verify
ladder --only write-read,one-cpu,memcpy --verify --json "$tmp/json" --csv "$tmp/csv"
is status "$status" 0
is 'title' "$(grep -c '^Contents, checked' "$tmp/out")" 1
check_json "$tmp/json"
json_is 'memcpy checked' '.steps[] | select(.name == "memcpy") | .verified' null
json_is 'bad bytes' '[.steps[].verified | select(. != null) | .bad_bytes] | add // 0' 0
end

begin ladder_explain
run "$gush" ladder $tiny --explain
is status "$status" 0
is 'what it does' "$(grep -c '^write-read  *write and read: each byte is copied' "$tmp/out")" 1
end

# One byte a round is a round still.
begin ladder_bytes
run "$gush" ladder $tiny --bytes 1 --csv "$tmp/csv" --json "$tmp/json"
is status "$status" 0
ran write-read
check_json "$tmp/json"
json_is 'bytes wanted' .settings.bytes 1
end

begin ladder_cpus
run "$gush" ladder $tiny --csv "$tmp/csv"
is status "$status" 0
ran write-read
matches 'its place' "$(row write-read)" 'write-read,by-hand,.*'
end

# Standard output that cannot be written is told in one line, at once.
begin ladder_output_closed
for where in '>&-' '> /dev/full' '--json - > /dev/full' '--csv - > /dev/full'; do
  eval '"$gush" ladder $tiny '"$where" 2> "$tmp/err"
  is "status with $where" "$?" 1
  case $where in *full) why='No space left on device' ;; *) why='Bad file descriptor' ;; esac
  is "stderr with $where" "$(grep '^gush' "$tmp/err")" "gush ladder: standard output: $why"
done
end

# A result file never takes the place of a closed descriptor, nor gets what is meant for it.
begin ladder_descriptors_closed
"$gush" ladder $tiny --csv "$tmp/csv" 0<&- 2>&- > "$tmp/out"
is 'status without 0 and 2' "$?" 0
is 'lines of CSV' "$(wc -l < "$tmp/csv" | tr -d ' ')" 2
: > "$tmp/csv"
"$gush" ladder $tiny --csv "$tmp/csv" >&- 2> "$tmp/err"
is 'status without 1' "$?" 1
is 'what else is in the CSV' "$(grep -vc '^step,\|^write-read,' "$tmp/csv")" 0
"$gush" ladder $tiny --json - 0<&- 2>&- > "$tmp/json"
is 'status of JSON without 0 and 2' "$?" 0
check_json "$tmp/json"
end

begin ladder_file_full
ladder --only write-read --cpus "$cpu" --json /dev/full
is status "$status" 1
is stderr "$err" 'gush ladder: /dev/full: No space left on device'
is 'the table is shown' "$(grep -c '^write-read  *by-hand ' "$tmp/out")" 1
end

begin ladder_reader_gone
for more in '' '--json -'; do
  ends '"$helpers/with_signal" default 13 "$gush" ladder $tiny '"$more" true
  is "status of the writer $more" "$wstatus" 141
  is "stderr of the writer $more" "$(printf '%s\n' "$werr" | grep '^gush')" ''
done
ends '"$helpers/with_signal" ignore 13 "$gush" ladder $tiny' true
is 'status with SIGPIPE ignored' "$wstatus" 1
is 'stderr with SIGPIPE ignored' "$werr" 'gush ladder: standard output: Broken pipe'
end

# terminal COMMAND...: as on a terminal; in $tmp/out what came there
terminal() {
  script -qec "$*" /dev/null < /dev/null > "$tmp/out" 2> "$tmp/err"
  status=$?
}
if have script && script -qec true /dev/null < /dev/null > "$tmp/out" 2>&1; then
  begin ladder_on_a_terminal
  once="'$gush' ladder $tiny" escape=$(printf '\033')
  TERM=xterm COLUMNS=80 terminal "env -u NO_COLOR $once"
  is 'status' "$status" 0
  is 'progress' "$(grep -c 'warming up: write-read, by-hand' "$tmp/out")" 1
  is 'coloured titles' "$(grep -c "^$escape\[1mThe article's steps$escape\[0m" "$tmp/out")" 1
  if ! grep -q '^write-read.*partial' "$tmp/out"; then
    is 'coloured bars' "$(grep -c "^write-read.*$escape\[34m" "$tmp/out")" 1
  fi
  TERM=xterm COLUMNS=80 terminal "NO_COLOR=1 $once 2> '$tmp/progress'"
  is 'escape sequences with NO_COLOR' "$(tr -cd '\033' < "$tmp/out" | wc -c | tr -d ' ')" 0
  is 'progress, standard error being a file' "$(cat "$tmp/progress")" ''
  TERM=dumb COLUMNS=80 terminal "$once 2> '$tmp/progress'"
  is 'escape sequences on a dumb terminal' "$(tr -cd '\033' < "$tmp/out" | wc -c | tr -d ' ')" 0
  end
else
  skip ladder_on_a_terminal 'no script(1)'
fi
finish
