#!/bin/sh
# yes: as GNU's, for all kinds of operands and of outputs.
# shellcheck disable=SC2016 # the command lines are for another shell
# shellcheck source=tests/cli/lib.inc
. "$(dirname "$0")/../cli/lib.inc"
# shellcheck source=tests/conform/conform.inc
. "$here/conform.inc"
conform yes

# letters N: so many, one after another, all the letters in turn
letters() {
  awk -v n="$1" 'BEGIN { while (length(s) < n) s = s "abcdefghijklmnopqrstuvwxyz"; printf "%s", substr(s, 1, n) }'
}

begin operands
while read -r operands; do
  for bytes in 1 4097 300001; do
    both operands "yes $operands | head -c $bytes"
  done
done << 'LIST'

a
abc def
''
'' ''
' '
'a  b' c
-
-- -x
-- -- a
a -- b
a - b
'\n' '%s' '$x'
"$(printf 'a\nb\n\nc')"
"$(printf '\001\033\177')"
"$(printf '\303\251\377')"
"$(printf '\r')"
$(seq 100)
$(seq 5000)
$(seq 60000)
LIST
end

# Lines of lengths beside those of pages, pipes and buffers. An argument holds 128 KiB at most.
begin lengths
for length in 63 1022 1023 1024 4094 4095 4096 8190 8191 8192 65534 65535 65536 131070; do
  letters "$length" > "$in/line"
  for bytes in 131073 2000003; do
    both "length $length" "yes \"\$(cat \"\$in/line\")\" | head -c $bytes"
  done
done
letters 120000 > "$in/line"
for times in 2 5 9 16; do # 16 times: more than a pipe of 1 MiB
  both "$times of 120000" \
    "l=\$(cat \"\$in/line\"); $(awk -v n="$times" \
      'BEGIN { printf "yes"; while (n-- > 0) printf " $l"; print " | head -c 5000011" }')"
done
end

begin usage
for arguments in -x -xy -1 --foo --foo=3 --helpx --v=1 --version=1 --h= --= ---; do
  both usage "yes $arguments"
done
both posix 'POSIXLY_CORRECT=1 yes a -x --help | head -n 3'
both posix 'POSIXLY_CORRECT=1 yes -x a'
both 'operand and option' 'yes a -x b'
both help_full 'yes --help > /dev/full'
both version_full 'yes --version > /dev/full'
both help_closed 'yes --help >&-'
end

begin sinks
for operands in '' a 'hello world' "\$(seq 300)" "\$(seq 20000)"; do
  tool="yes $operands"
  both full "$tool > /dev/full"
  both closed "$tool >&-"
  both read_only "$tool 1< /dev/null"
  both folder "$tool 1< /"
  for blocks in 1 7 100 4001; do # of 512 bytes
    both file_limit "ulimit -f $blocks; $tool > file"
    both file_limit_ignored "trap '' XFSZ; ulimit -f $blocks; $tool > file"
    both file_limit_append "printf 12345 > file; trap '' XFSZ; ulimit -f $blocks; $tool >> file"
  done
  both file_offset "trap '' XFSZ; ulimit -f 50; printf 12345 > file; { printf 12; $tool; } 1<> file"
  both pipe_default "{ \"\$helpers/with_signal\" default 13 $tool; echo \"of yes: \$?\" >&2; } | head -c 100001"
  both pipe_ignored "{ \"\$helpers/with_signal\" ignore 13 $tool; echo \"of yes: \$?\" >&2; } | head -c 100001"
  both reader_gone "{ sleep 0.05; \"\$helpers/with_signal\" ignore 13 $tool; echo \"of yes: \$?\" >&2; } | true"
  both lines "$tool | head -n 301"
  both splicer "$tool | head -c 3000000 | cksum"
  for kind in unix tcp; do
    both "$kind" "\"\$helpers/by_socket\" $kind out $tool 2> /dev/null | head -c 400001" # EPIPE or ECONNRESET, as it comes
  done
  both terminal "\"\$helpers/by_pty\" out $tool | head -c 100001"
  both fifo "mkfifo f; { $tool > f; } & head -c 70001 < f; rm f"
done
end

# GNU's gives up, with "Resource temporarily unavailable"; we wait, and no byte is lost.
begin non_blocking
for operands in '' "\$(seq 300)"; do
  for bytes in 1000 1000001; do
    as_if non_blocking "{ sleep 0.02; \"\$helpers/nonblock\" 1 yes $operands; } | { sleep 0.05; head -c $bytes; }" \
      "yes $operands | head -c $bytes"
  done
done
end

# The comparison itself: a tool that is not like the other must be noticed.
begin control
rm "$tmp/ours/yes"
printf '#!/bin/sh\necho x\n' > "$tmp/ours/yes"
chmod +x "$tmp/ours/yes"
(both planted 'yes | head -n 1' && both planted 'yes x | head -n 2' && both planted 'yes >&-') > "$tmp/noticed"
is 'differences noticed' "$(grep -c 'differ(s)' "$tmp/noticed")" 3
end
echo "# $conform_cases cases"
finish
