#!/bin/sh
# cat, kinds of inputs and outputs, and what can go wrong with them: as GNU's.
# shellcheck disable=SC2016 # the command lines are for another shell
# shellcheck source=tests/cli/lib.inc
. "$(dirname "$0")/../cli/lib.inc"
# shellcheck source=tests/conform/conform.inc
. "$here/conform.inc"
conform cat
# shellcheck source=tests/conform/cat_inputs.inc
. "$here/cat_inputs.inc"

# ---- inputs ----

begin standard_input
for set in '' -n -A -bs; do
  for input in $inputs; do
    both "$set from a pipe" "cat \"\$in/$input\" | cat $set"
    both "$set redirected" "cat $set < \"\$in/$input\""
    both "$set beside a file" "cat $set \"\$in/lines\" - \"\$in/lines\" < \"\$in/$input\""
  done
  both "$set pieces" "{ printf 'a\\n\\n'; sleep 0.02; printf '\\n\\r'; sleep 0.02; printf '\\nb'; } | cat $set"
  both "$set part of it" "{ head -c 3 > /dev/null; cat $set; } < \"\$in/lines\"" # head(1) reads more of a pipe
  both "$set twice" "cat $set - - < \"\$in/lines\""
  both "$set closed" "cat $set <&-"
  both "$set closed, and a file" "cat $set \"\$in/lines\" <&-"
  both "$set closed, beside a file" "cat $set - \"\$in/lines\" <&-"
  both "$set write only" "cat $set 0> file"
  both "$set folder" "cat $set < /"
  both "$set terminal" "printf 'a\\nb\\n' | \"\$helpers/by_pty\" in cat $set"
  both "$set empty terminal" "\"\$helpers/by_pty\" in cat $set"
  both "$set fifo" "mkfifo f; printf 'a\\n\\nb' > f & cat $set f; rm f"
  for kind in unix tcp; do
    both "$set $kind" "cat \"\$in/long\" | \"\$helpers/by_socket\" $kind in cat $set"
  done
  both "$set device" "head -c 100000 /dev/zero | cat $set"
  both "$set proc" "cat $set /proc/version /proc/sys/kernel/ostype"
  both "$set null" "cat $set /dev/null"
  both "$set sparse" "truncate -s 3M hole; printf x >> hole; truncate -s 4M hole; cat $set hole | cksum"
done
end

# GNU's gives up, with "Resource temporarily unavailable"; we wait.
begin non_blocking
for set in '' -n; do
  as_if "$set input" \
    "{ printf 'a\\n'; sleep 0.05; printf 'b\\n'; } | \"\$helpers/nonblock\" 0 cat $set" "printf 'a\\nb\\n' | cat $set"
  as_if "$set output" "\"\$helpers/nonblock\" 1 cat $set \"\$in/numbers\" | { sleep 0.05; cksum; }" \
    "cat $set \"\$in/numbers\" | cksum"
done
end

begin errors
for set in '' -n; do
  both "$set missing" "cat $set nofile"
  both "$set some missing" "cat $set nofile \"\$in/lines\" none \"\$in/open\" /"
  both "$set folder" "mkdir d; cat $set d \"\$in/lines\" d"
  both "$set no folder" "cat $set \"\$in/lines/x\""
  both "$set too long" "cat $set \"\$(seq 300 | tr -d '\\n')\""
  both "$set loop" "ln -s a b; ln -s b a; cat $set a"
  both "$set permission" "echo > f; chmod 0 f; setpriv --reuid 60001 --clear-groups cat $set f; rm f"
  both "$set empty name" "cat $set ''"
  both "$set no memory" "cat $set /proc/self/mem"
done
while read -r name; do
  both "name $name" "cat $name"
  both "name $name, UTF-8" "LC_ALL=C.UTF-8 cat $name"
done << 'LIST'
'a b' 'a$b' "it's" ''
"it's it" "it's \$5" "'" "''" "'\$" "a'b\"" "a'#b" "a'{b" "a'~"
'~x' 'x~' '~' '#x' 'x#' '{' '}' '{}' 'a{b' '{a' 'a=b' '=' 'a\b' 'a:b' 'a"b' '*' '?' '[' ']' '!' '^' '%' '@' '+' ','
'a|b' 'a`b' 'a;b' 'a&b' 'a<b' 'a>b' 'a(b' 'a)b' 'a!b' a.b a-b a_b ./-x
"$(printf 'a\nb')" "$(printf '\na')" "$(printf "a\n'b")" "$(printf "'\n'")" "$(printf 'a\tb c')" "$(printf '\1\2x\3')"
"$(printf '\007\010\011\013\014\015\033\177x')" "$(printf 'a\001 1')"
"$(printf '\303\251')" "$(printf '\303\251 b')" "$(printf 'a\303')" "$(printf '\303(')" "$(printf "'\303\251")"
"$(printf '\302\205x')" "$(printf '\340\200\200')" "$(printf '\360\237\230\200')" "$(printf '\355\240\200')" "$(printf '\377')"
LIST
end

# ---- outputs ----

begin outputs
for set in '' -n -A; do
  for input in empty newline lines numbers; do
    both "$set full" "cat $set \"\$in/$input\" > /dev/full"
    both "$set piped full" "cat \"\$in/$input\" | cat $set > /dev/full"
    both "$set closed" "cat $set \"\$in/$input\" >&-"
    both "$set read only" "cat $set \"\$in/$input\" 1< /dev/null"
    both "$set read only, missing" "cat $set nofile \"\$in/$input\" 1< /dev/null"
    both "$set folder" "cat $set \"\$in/$input\" 1< /"
    both "$set file" "cat $set \"\$in/$input\" > file"
    both "$set append" "echo before > file; cat $set \"\$in/$input\" - >> file < \"\$in/lines\""
    both "$set in place" "echo 123456 > file; { printf 12; cat $set \"\$in/$input\"; } 1<> file"
    both "$set pipe to file" "cat \"\$in/$input\" | cat $set > file"
    both "$set pipe to append" "echo before > file; cat \"\$in/$input\" | cat $set >> file"
    for blocks in 0 1 100; do
      both "$set limit" "ulimit -f $blocks; cat $set \"\$in/$input\" > file"
      both "$set piped limit" "ulimit -f $blocks; trap '' XFSZ; cat \"\$in/$input\" | cat $set > file"
      # Both fail at once where the limit is 0, from file to file: copy_file_range(2) says so of no bytes, too.
      [ "$input$blocks" != empty0 ] || continue
      # GNU's calls it an error of the input, where it copies from file to file.
      as_if "$set limit ignored" "trap '' XFSZ; ulimit -f $blocks; cat $set \"\$in/$input\" > file" \
        "trap '' XFSZ; ulimit -f $blocks; cat \"\$in/$input\" | cat $set > file"
    done
    for kind in unix tcp; do
      both "$set $kind" "\"\$helpers/by_socket\" $kind out cat $set \"\$in/$input\""
    done
    both "$set terminal" "\"\$helpers/by_pty\" out cat $set \"\$in/$input\" | cksum"
    both "$set null" "cat $set \"\$in/$input\" > /dev/null"
  done
  both "$set gone" "{ sleep 0.05; \"\$helpers/with_signal\" default 13 cat $set \"\$in/numbers\"; echo \"\$?\" >&2; } | true"
  both "$set gone, ignored" \
    "{ sleep 0.05; \"\$helpers/with_signal\" ignore 13 cat $set \"\$in/numbers\"; echo \"\$?\" >&2; } | true"
  both "$set head" "\"\$helpers/with_signal\" default 13 cat $set \"\$in/numbers\" | head -c 100001"
  both "$set missing, closed" "cat $set nofile >&-"
done
end

begin input_is_output
printf 'one\ntwo\n' > "$in/f"
: > "$in/e"
while read -r command; do
  for set in '' -n; do
    both "$set $command" "cp \"\$in/f\" f; : > e; ulimit -f 100; $(echo "$command" | sed "s/cat /cat $set /")"
  done
done << 'LIST'
cat f >> f
cat f > f
cat < f >> f
cat < f > f
cat f 1<> f
cat < f 1<> f
cat - < f >> f
cat e >> e
cat < e >> e
cat e 1<> e
cat e f >> f
cat e f e >> e
cat f e >> e
cat f f >> e
cat nofile f e >> f
{ printf 12345678; cat f; } 1<> f
{ dd bs=4 count=1 of=/dev/null 2> /dev/null; cat - ; } < f 1<> f
{ dd bs=4 count=1 of=/dev/null 2> /dev/null; cat - ; } < f >> f
{ dd bs=8 count=1 of=/dev/null 2> /dev/null; cat - ; } < f >> f
cat <> f >&0
exec 3<> f; cat f >&3
exec 3>> f; cat e >&3
exec 3<> f; cat <&3 >&3
ln f g; cat g >> f
ln -s f g; cat g >> f
cat f f >> f
cat f > f < f
LIST
end

# The comparison itself: a tool that is not like the other must be noticed.
begin control
rm "$tmp/ours/cat"
printf '#!/bin/sh\nexec /bin/cat -n "$@"\n' > "$tmp/ours/cat"
chmod +x "$tmp/ours/cat"
(both planted 'cat "$in/lines"' && both planted 'cat "$in/lines" > file' && both planted 'cat nofile') > "$tmp/noticed"
is 'differences noticed' "$(grep -c 'differ(s)' "$tmp/noticed")" 3
end
echo "# $conform_cases cases"
finish
