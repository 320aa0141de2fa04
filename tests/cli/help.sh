#!/bin/sh
# --help is what the golden files say (to renew one: gush COMMAND --help > tests/cli/golden/COMMAND.help) and
# fits a terminal; --version is the one of config.mk.
# shellcheck source=tests/cli/lib.inc
. "$(dirname "$0")/lib.inc"
version=$(sed -n 's/^VERSION = //p' "$here/../../config.mk")

# golden CASE FILE COMMAND...
golden() {
  file=$here/golden/$2.help
  begin "help_$1"
  shift 2
  run "$@"
  is status "$status" 0
  is stderr "$err" ''
  if cmp -s "$tmp/out" "$file"; then
    good
  else
    bad 'differs from the golden file'
    diff "$file" "$tmp/out" | sed 's/^/  /'
  fi
  is "lines over 80 columns" "$(awk "length > 80" "$tmp/out")" ""
  end
}

golden gush gush "$gush" --help
golden cat cat "$gush" cat --help
golden tee tee "$gush" tee --help
golden yes yes "$gush" yes --help
golden install_links install-links "$gush" install-links --help
golden write write "$gush" write --help
golden read read "$gush" read --help
golden probe probe "$gush" probe --help
golden short read "$gush" read -h
golden cut_short read "$gush" read --he
golden gush_short gush "$gush" -h
# A link called as a tool is that tool; one called otherwise is gush.
ln -s "$gush" "$tmp/read"
ln -s "$gush" "$tmp/yes"
ln -s "$gush" "$tmp/other"
golden link_of_tool read "$tmp/read" --help
golden link_of_yes yes "$tmp/yes" --he
golden other_link gush "$tmp/other" --help

tools='cat tee yes' # those that replace another tool call themselves as it does
begin version
matches 'VERSION of config.mk' "$version" '[0-9][0-9]*\.[0-9][0-9]*\.[0-9][0-9]*'
for command in '' write read probe install-links; do
  # shellcheck disable=SC2086 # nothing or one word
  run "$gush" $command --version
  is status "$status" 0
  is stdout "$out" "gush $version"
  is stderr "$err" ''
done
for tool in $tools; do
  run "$gush" "$tool" --version
  is status "$status" 0
  is stdout "$out" "$tool (gush) $version"
  is stderr "$err" ''
done
end

begin help_full_disk
for command in '' write read probe install-links; do
  # shellcheck disable=SC2086
  "$gush" $command --help > /dev/full 2> "$tmp/err"
  is status $? 1
  is stderr "$(cat "$tmp/err")" "gush${command:+ $command}: standard output: No space left on device"
  # shellcheck disable=SC2086
  "$gush" $command --version >&- 2> "$tmp/err"
  is status $? 1
  is stderr "$(cat "$tmp/err")" "gush${command:+ $command}: standard output: Bad file descriptor"
done
for tool in $tools; do
  "$gush" "$tool" --help > /dev/full 2> "$tmp/err"
  is status $? 1
  is stderr "$(cat "$tmp/err")" "$tool: write error: No space left on device"
  "$gush" "$tool" --version >&- 2> "$tmp/err"
  is status $? 1
  is stderr "$(cat "$tmp/err")" "$tool: write error: Bad file descriptor"
done
end

finish
