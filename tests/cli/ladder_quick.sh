#!/bin/sh
# One whole `gush ladder --quick`: every step, in time, and the JSON is what it should be.
# shellcheck source=tests/cli/lib.inc
. "$(dirname "$0")/lib.inc"
# shellcheck source=tests/cli/ladder.inc
. "$(dirname "$0")/ladder.inc"

begin ladder_quick
start=$(date +%s)
run "$gush" ladder --quick --json "$tmp/json" --csv "$tmp/csv"
seconds=$(($(date +%s) - start))
is status "$status" 0
is stderr "$err" ''
# It promises 20; the machine may be busy. More means that it hangs somewhere.
if [ "$seconds" -le 45 ]; then good; else bad "took $seconds s"; fi
check_json "$tmp/json"
json_is partial .partial false
json_is schema .schema 1
for step in write-read write-read-huge vmsplice-read vmsplice-splice vmsplice-splice-huge busy-loop full-capacity \
  one-cpu adaptive tee-master fill-write fill-unsafe protect limit mem-read memcpy; do
  if [ -n "$(row "$step")" ]; then good; else bad "no row of $step"; fi
  is "rows of $step in the table" "$(grep -c "^$step  *[a-z-][a-z0-9-]* " "$tmp/out")" "$(grep -c "^$step," "$tmp/csv")"
done
is 'rows that failed' "$(grep ',failed,' "$tmp/csv")" ''
json_is 'steps in order of the table' '[.steps[].name] | index("write-read") < index("limit")' true
ran memcpy
json_is 'ratios of the first' '[.steps[] | select(.status == "ok")][0].ratio_to_first | . == null or . == 1' true
is 'rounds told' "$(grep -c '^Rounds measured: ' "$tmp/out")" 1
is 'lines over 80 columns' "$(awk 'length > 80' "$tmp/out")" ''
end
finish
