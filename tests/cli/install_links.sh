#!/bin/sh
# gush install-links: the links it makes work, what is there already stays, and errors are told.
# shellcheck source=tests/cli/lib.inc
. "$(dirname "$0")/lib.inc"
tools='cat tee yes'
self=$(readlink -f "$gush")

begin fresh_folder
mkdir "$tmp/fresh"
run "$gush" install-links "$tmp/fresh"
is status "$status" 0
is stdout "$out" ''
is stderr "$err" ''
is 'the links' "$(cd "$tmp/fresh" && echo *)" "$tools"
for tool in $tools; do
  is "where $tool leads" "$(readlink "$tmp/fresh/$tool")" "$self"
  matches "$tool --version" "$("$tmp/fresh/$tool" --version)" "$tool (gush) [0-9].*"
  matches "--help of $tools names it" "$("$gush" install-links --help | tr '\n' ' ')" ".* ${tool}[,.].*"
done
end

begin again
run "$gush" install-links "$tmp/fresh"
is status "$status" 0
is stderr "$err" ''
is 'the links' "$(cd "$tmp/fresh" && echo *)" "$tools"
# A link runs gush, and so it can make links, too.
ln -s "$tmp/fresh/yes" "$tmp/gush"
mkdir "$tmp/second"
run "$tmp/gush" install-links "$tmp/second"
is 'status through a link' "$status" 0
is 'where it leads then' "$(readlink "$tmp/second/yes")" "$self"
end

# Each tool of GNU's that gush has is linked, and nothing else.
begin all_of_them
for name in $("$gush" --help | sed -n 's/^  \([a-z-]*\)  *.* as \([a-z]*\)(1)$/\1/p'); do
  case " $tools " in *" $name "*) good ;; *) bad "no link for $name" ;; esac
done
end

# taken NAME: there is something at $tmp/full/yes, which must be there afterwards
taken() {
  run "$gush" install-links "$tmp/full"
  is "status beside $1" "$status" 1
  is "stderr beside $1" "$err" \
    "gush install-links: $tmp/full/yes: is there already, and no link to this gush; remove it first"
}

begin existing_is_left_alone
mkdir "$tmp/full"
echo mine > "$tmp/full/yes"
taken 'a file'
is 'the file' "$(cat "$tmp/full/yes")" mine
rm "$tmp/full/yes"
ln -s /nowhere "$tmp/full/yes"
taken 'a dangling link'
is 'the link' "$(readlink "$tmp/full/yes")" /nowhere
rm "$tmp/full/yes"
mkdir "$tmp/full/yes"
taken 'a folder'
end

begin errors
run "$gush" install-links "$tmp/none"
is 'status without folder' "$status" 1
is 'stderr without folder' "$err" "gush install-links: $tmp/none: No such file or directory"
run "$gush" install-links "$tmp/full/../fresh/yes"
is 'status of a file' "$status" 1
is 'stderr of a file' "$err" "gush install-links: $tmp/full/../fresh/yes: Not a directory"
run "$gush" install-links
is 'status without operand' "$status" 2
is 'stderr without operand' "$err" \
  "gush install-links: one folder is wanted, and 0 were given; see 'gush install-links --help'"
run "$gush" install-links a b
is 'status of two' "$status" 2
is 'stderr of two' "$err" \
  "gush install-links: one folder is wanted, and 2 were given; see 'gush install-links --help'"
# A folder that nobody can write to, root included.
run "$gush" install-links /proc/self
is 'status of /proc/self' "$status" 1
for tool in $tools; do
  is "lines about $tool" "$(grep -c "^gush install-links: /proc/self/$tool: [A-Z]..*" "$tmp/err")" 1
done
end
finish
