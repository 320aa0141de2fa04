#!/bin/sh
# gush ladder ended by a signal in the middle: it dies of it, takes its children along, keeps what there is.
# shellcheck source=tests/cli/lib.inc
. "$(dirname "$0")/lib.inc"
# shellcheck source=tests/cli/ladder.inc
. "$(dirname "$0")/ladder.inc"
cpu=$(sed -n 's/^Cpus_allowed_list:[[:space:]]*\([0-9]*\).*/\1/p' /proc/self/status)
# shellcheck disable=SC3045 # dash, bash and busybox have it
ulimit -c 0 # SIGQUIT leaves no core

# Living children of $1: their numbers
children_of() {
  for stat in /proc/[0-9]*/stat; do
    read -r line < "$stat" || continue
    number=${line%% *} line=${line##*) }
    case $line in
      Z*) ;;
      ?" $1 "*) echo "$number" ;;
    esac
  done 2> "$tmp/lib.err"
}

# start default|ignore NUMBER [OPTION]...: a ladder that would run for hours, in the middle of a round; $pid $children
start() {
  echo old > "$tmp/json"
  disposition=$1 number=$2
  shift 2
  "$helpers/with_signal" "$disposition" "$number" "$gush" ladder --rounds 100000 --only write-read --cpus "$cpu" \
    --json "$tmp/json" --csv "$tmp/csv" "$@" > "$tmp/out" 2> "$tmp/err" &
  pid=$!
  sleep 1
  children=
  tries=0 # a busy machine may show none between two rounds, again and again
  while children=$(children_of "$pid") && [ -z "$children" ] && [ "$tries" -lt 200 ]; do
    tries=$((tries + 1))
    sleep 0.05
  done
}

# Waits for $pid: $status, and whether its children have gone, too
finished() {
  wait "$pid" 2> "$tmp/lib.err"
  status=$?
  left=
  for _ in 1 2 3 4 5 6 7 8 9 10; do
    left=
    for child in $children; do
      state=
      { read -r line < "/proc/$child/stat"; } 2> "$tmp/lib.err" && state=${line##*) }
      case $state in '' | Z*) ;; *) left="$left $child" ;; esac
    done
    [ -n "$left" ] || break
    sleep 0.2
  done
  if [ -n "$children" ]; then good; else bad 'it had no children to begin with'; fi
  is 'children left' "$left" ''
  # shellcheck disable=SC2086 # several numbers
  [ -z "$left" ] || kill -KILL $left
}

# ended_by NAME NUMBER
ended_by() {
  begin "ladder_$1"
  start default "$2"
  kill -"$1" "$pid"
  finished
  is status "$status" $((128 + $2))
  is stderr "$(cat "$tmp/err")" ''
  check_json "$tmp/json"
  json_is partial .partial true
  json_is 'statuses' '[.steps[].status] | unique' '["partial"]'
  json_is 'reasons' '[.steps[].reason | test("^interrupted after [0-9]+ of 100000 rounds$")] | all' true
  json_is 'rounds kept' '[.steps[].rounds[]] | length > 0' true
  is 'rows of the CSV' "$(grep -c ',partial,,,,,,,,[0-9]*,[0-9]*,"interrupted after' "$tmp/csv")" 1
  is 'rows of the table' "$(grep -c ' partial: interrupted after' "$tmp/out")" 1
  end
}
ended_by INT 2
ended_by TERM 15
ended_by HUP 1
ended_by QUIT 3

# No handler can help here: the children go all the same, out of a round of hours, and old results are still there.
begin ladder_KILL
start default 2 --bytes 1E
kill -KILL "$pid"
finished
is status "$status" 137
is 'old results' "$(cat "$tmp/json")" old
end

# nohup: a signal that was ignored from the start stays so.
begin ladder_nohup
start ignore 1
kill -HUP "$pid"
sleep 0.5
if kill -0 "$pid" 2> "$tmp/lib.err"; then good; else bad 'it ended'; fi
kill -TERM "$pid"
finished
is status "$status" 143
end

# Twice, as timeout(1) does it: to the program, and to its group.
begin ladder_twice
start default 15
kill -TERM "$pid"
kill -TERM "$pid" 2> "$tmp/lib.err"
finished
is status "$status" 143
check_json "$tmp/json"
json_is partial .partial true
end
finish
