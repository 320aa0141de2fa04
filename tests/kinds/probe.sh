#!/bin/sh
# gush probe in a sandbox: it tells which calls are forbidden, and which ways are left.
# shellcheck source=tests/cli/lib.inc
. "$(dirname "$0")/../cli/lib.inc"

# CALL ITS-NAME-IN-THE-REPORT
for pair in splice:splice tee:tee vmsplice:vmsplice sendfile:sendfile copy_file_range:copy_file_range \
  preadv2:preadv2-nowait pwritev2:pwritev2-nowait; do
  call=${pair%:*} name=${pair#*:}
  begin "probe_without_$call"
  run "$helpers/deny" "$call" EPERM true
  if [ "$status" -eq 77 ]; then
    skip "$lib_name" "$err"
    continue
  fi
  run "$gush" probe --json
  case $out in *"\"$name\": \"ok\""*) good ;; *) bad "without a filter, $name is not ok" ;; esac
  for error in EPERM ENOSYS; do
    [ $error = EPERM ] && text='Operation not permitted' || text='Function not implemented'
    run "$helpers/deny" "$call" $error "$gush" probe
    is "status of probe without $call" "$status$err" 0
    if printf "%s\n" "$out" | grep -q "^  $name  *$text"; then good; else bad "no line '$name $text'"; fi
    run "$helpers/deny" "$call" $error "$gush" probe --json
    is "status of probe --json without $call" "$status$err" 0
    case $out in *"\"$name\": \"$error\""*) good ;; *) bad "no \"$name\": \"$error\"" ;; esac
  done
  end
done
finish
