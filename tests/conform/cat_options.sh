#!/bin/sh
# cat, options and texts: as GNU's.
# shellcheck disable=SC2016 # the command lines are for another shell
# shellcheck source=tests/cli/lib.inc
. "$(dirname "$0")/../cli/lib.inc"
# shellcheck source=tests/conform/conform.inc
. "$here/conform.inc"
conform cat
# shellcheck source=tests/conform/cat_inputs.inc
. "$here/cat_inputs.inc"


# Each set of letters that makes a difference, once.
sets() {
  for n in '' n b; do for s in '' s; do for e in '' E; do for t in '' T; do for v in '' v; do
    echo "$n$s$e$t$v"
  done; done; done; done; done
}

begin option_sets
sets > "$tmp/sets"
while read -r set; do
  for input in $inputs; do
    both "-$set" "cat ${set:+-$set} \"\$in/$input\""
  done
done < "$tmp/sets"
end

begin letters
for arguments in -A -e -t -u -uuu -Au -et -vET --show-all --number-nonblank --show-ends --number --squeeze-blank \
  --show-tabs --show-nonprinting --sh-a --show-a --squ --number- --number '-n -b' '-b -n' '-s -n -E' '--show-e -T' \
  '-n -- ' '--help=1' --n --s --show --show- -Z -nZ --foo --foo=1 --number=3 --st --ex --e --v=1 -h -1; do
  both letters "cat $arguments \"\$in/random_text\" \"\$in/returns\" \"\$in/all\""
done
both operand_first 'cat "$in/lines" -n "$in/runs" -s'
both posix 'POSIXLY_CORRECT=1 cat "$in/lines" -n'
both posix 'POSIXLY_CORRECT=1 cat -n "$in/lines" -s'
both help_full 'cat --help > /dev/full'
both version_closed 'cat --version >&-'
end

# Lines, blank runs, numbers and returns that go on in the next file.
begin several_files
for set in '' n b s ns bs E nE bE sE bsE A nA bsA; do
  for a in open runs blank return edge edge_return random_dos; do
    for b in open blank newline return lines random_dos; do
      both "-$set $a $b" "cat ${set:+-$set} \"\$in/$a\" \"\$in/$b\" \"\$in/empty\" \"\$in/$a\""
    done
  done
done
for set in n b nE A; do
  both numbers "cat -$set \"\$in/few\" \"\$in/numbers\" \"\$in/few\" \"\$in/many_blank\" | cksum"
done
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
