#!/bin/sh
# gush tee: when bytes arrive, when a reader's end is noticed, and places where things are scarce or forbidden. That
# it is as GNU's is shown in tests/conform.
# shellcheck disable=SC2086,SC2317,SC2002,SC3045 # options are words; called by until_true; cat is the writer; dash has -n
# shellcheck source=tests/cli/lib.inc
. "$(dirname "$0")/lib.inc"
cd "$tmp" || exit 1
awk 'BEGIN { for (i = 0; i < 280000; i++) print i }' > stream # 1.8 MB: the library's fan-out is in charge then
sum=$(cksum < stream)

# until_true COMMAND...: within 5 s; else the case has a bad check, named $what
until_true() {
  tries=0
  until "$@"; do
    tries=$((tries + 1))
    if [ "$tries" -gt 250 ]; then
      bad "$what"
      return 1
    fi
    sleep 0.02
  done
  good
}

ends_with() {
  [ "$(tail -n 1 "$1")" = "$2" ]
}

has_ended() {
  [ -s "$1" ]
}

# begin_tee OPTIONS: the input is descriptor 3, and stays open; its number is $tee, and its status comes to `status.of`
begin_tee() {
  rm -f input status.of number
  mkfifo input
  {
    "$gush" tee "$@" < input &
    echo $! > number
    wait $!
    echo $? > status.of
  } 2> err > "$standard_output" &
  exec 3> input
  what="tee $* does not start"
  until_true has_ended number
  read -r tee < number
}

end_tee() {
  exec 3>&-
  what="tee $* does not end"
  until_true has_ended status.of
  is 'stderr' "$(cat err)" ''
  is 'status' "$(cat status.of)" 0
}

# ticks: what it has used of the CPU, in 1/100 s
ticks() {
  sed 's/.*) //' "/proc/$tee/stat" | awk '{ print $12 + $13 }'
}

# idle: half a second without input costs next to nothing; a busy loop takes 50 ticks, or half of that beside others
idle() {
  before=$(ticks)
  sleep 0.5
  used=$(($(ticks) - before))
  if [ "$used" -le 8 ]; then good; else bad "$1: $used ticks of CPU while idle"; fi
}

# ---- a line is out at once, at every output, before a stream and behind it ----

lines() {
  mkfifo p q
  cat p > p.got &
  cat q > q.got &
  standard_output=o
  : > o
  begin_tee $1 f p q g
  for round in 1 2 3 4 5 6; do
    echo "line $round" >&3
    for file in o f g p.got q.got; do
      what="tee $1: line $round is not in $file while the input is open"
      until_true ends_with "$file" "line $round"
    done
    [ $((round % 2)) -eq 1 ] || cat stream >&3
  done
  idle "tee $1"
  end_tee "$1"
  wait
  for file in f g p.got q.got; do
    if cmp -s o "$file"; then good; else bad "tee $1: $file is not like standard output"; fi
  done
  is "bytes of tee $1" "$(wc -c < o)" $((3 * $(wc -c < stream) + 6 * 7))
  rm -f p q f g o ./*.got
}

# ---- the end of a reader is noticed while nothing comes ----

# gone PRELUDE OPTIONS FILES: the only output, and then the last of several
gone() {
  mkfifo p q
  standard_output=p
  (exec head -c "$(wc -c < "$1")" < p > /dev/null) &
  begin_tee $2
  cat "$1" >&3
  what="tee $2: that its reader has gone is not noticed"
  until_true has_ended status.of
  exec 3>&-
  is "stderr of tee $2" "$(cat err)" ''
  wait

  standard_output=p
  (exec head -c "$(wc -c < "$1")" < p > /dev/null) &
  (exec head -c "$(wc -c < "$1")" < q > /dev/null) &
  begin_tee $2 q f
  cat "$1" >&3
  what="tee $2: the file does not get its line"
  sleep 0.1
  idle "tee $2 with readers gone"
  echo last >&3
  until_true ends_with f last
  end_tee
  wait

  standard_output=p
  (exec head -c "$(wc -c < "$1")" < p > /dev/null) &
  (exec head -c "$(wc -c < "$1")" < q > /dev/null) &
  begin_tee $2 q
  cat "$1" >&3
  what="tee $2: that both readers have gone is not noticed"
  until_true has_ended status.of
  exec 3>&-
  is "stderr of tee $2" "$(cat err)" ''
  wait
  rm -f p q f
}

begin lines
for options in '' -p --output-error=warn --output-error=exit -a; do lines "$options"; done
end

begin gone
echo first > little
: > none
for options in -p --output-error --output-error=warn-nopipe --output-error=exit-nopipe; do
  gone little "$options"
  gone stream "$options"
done
gone none -p
end

# ---- an output that nobody reads for a while ----

begin slow
for options in '' -p; do
  mkfifo p
  exec 4<> p # it can be opened, and nobody reads
  standard_output=o
  begin_tee $options f p
  (cat stream stream >&3 4>&-) &
  what="tee $options: the others do not get what fits into the pipe of the slow one"
  big_enough() { [ -e f ] && [ "$(wc -c < f)" -ge 65536 ] && [ "$(wc -c < o)" -ge 65536 ]; }
  until_true big_enough
  cat p > p.got 3>&- 4>&- &
  reader=$!
  exec 3>&- 4>&-
  what="tee $options does not end"
  until_true has_ended status.of
  wait $reader
  for file in o f p.got; do
    is "tee $options: $file" "$(cksum < $file)" "$(cat stream stream | cksum)"
  done
  rm -f p f o p.got status.of
done
end

# ---- a file that changes while its bytes are on their way ----

# changed OPTIONS: says "old" if a late reader gets what the file held when the other output had got it already. Of
# that, what is past 64 KiB waits in tee's own pipes.
changed() {
  mkfifo p
  exec 4<> p
  cp stream s
  rm -f f
  "$gush" tee $1 f < s > p 2> err &
  what="tee $1: the file does not get its bytes"
  enough() { [ -e f ] && [ "$(wc -c < f)" -gt 65536 ]; }
  until_true enough > late
  sleep 0.1
  had=$(wc -c < f)
  tr 1 2 < stream | dd of=s conv=notrunc 2> dd.err
  cat p > p.got 4>&- &
  reader=$!
  exec 4>&-
  wait $reader
  if cmp -s -n "$had" p.got stream && [ "$had" -gt 65536 ]; then echo old; else echo new; fi
  rm p p.got
}

begin stable
is 'tee --stable' "$(changed --stable)" old
is 'with GUSH_STABLE=1' "$(GUSH_STABLE=1 && export GUSH_STABLE && changed '')" old
is 'tee without it' "$(changed '')" new # pages are shared: else this would show nothing
end

# ---- O_NONBLOCK on what others share: no busy loop, no byte lost ----

begin non_blocking
for options in '' -p; do
  standard_output=o
  rm -f input status.of number
  mkfifo input
  {
    "$helpers/nonblock" 0 "$gush" tee $options f < input > o &
    echo $! > number
    wait $!
    echo $? > status.of
  } 2> err &
  exec 3> input
  what='tee does not start'
  until_true has_ended number
  read -r tee < number
  cat stream >&3
  idle "tee $options, input O_NONBLOCK"
  end_tee
  is "bytes, input O_NONBLOCK" "$(cksum < o)" "$sum"

  mkfifo p
  exec 4<> p
  rm number
  {
    "$helpers/nonblock" 1 "$gush" tee $options f < stream > p &
    echo $! > number
    wait $!
  } 2> err &
  what='tee does not start'
  until_true has_ended number
  sleep 0.1
  read -r tee < number
  idle "tee $options, output O_NONBLOCK and full"
  cat p > p.got 4>&- &
  reader=$!
  exec 4>&-
  wait $reader
  is "bytes, output O_NONBLOCK" "$(cksum < p.got)" "$sum"
  is "bytes of the file" "$(cksum < f)" "$sum"
  rm -f p f o
done
end

# ---- messages, which a short read would cut ----

begin messages
if have python3; then
  python3 - "$gush" > messages.got 2> err << 'EOF'
import socket, subprocess, sys
a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
tee = subprocess.Popen([sys.argv[1], "tee", "f"], stdin=b)
b.close()
for i in range(40):
    a.send(b"%d " % i * 7000)
a.close()
sys.exit(tee.wait())
EOF
  is status $? 0
  is stderr "$(cat err)" ''
  awk 'BEGIN { for (i = 0; i < 40; i++) for (k = 0; k < 7000; k++) printf "%d ", i }' > messages
  for file in messages.got f; do
    if cmp -s "$file" messages; then good; else bad "$file has $(wc -c < $file) bytes of $(wc -c < messages)"; fi
  done
  end
else
  skip messages 'no python3'
fi

# ---- forbidden and scarce ----

# works PREFIX...: three outputs and one, from a pipe and a file, are complete, and nothing is said
works() {
  for options in '' -p -a; do
    rm -f f g
    cat stream | "$@" "$gush" tee $options f g 2> err | cksum > o
    is "$* tee $options f g" "$(cat o) $(cksum < f) $(cksum < g) $(cat err)" "$sum $sum $sum "
    rm -f f
    "$@" "$gush" tee $options f < stream 2> err | cksum > o
    is "$* tee $options f < file" "$(cat o) $(cksum < f) $(cat err)" "$sum $sum "
    cat stream | "$@" "$gush" tee $options 2> err | cksum > o
    is "$* tee $options" "$(cat o) $(cat err)" "$sum "
    rm -f f
    echo abc | "$@" "$gush" tee $options f > o 2> err
    is "$* tee $options, a line" "$(cat o) $(tail -n 1 f) $(cat err)" 'abc abc '
  done
}

begin forbidden
run "$helpers/deny" splice EPERM true
if [ "$status" -eq 77 ]; then
  skip forbidden "$err"
else
  for error in EPERM ENOSYS; do
    for calls in splice tee pipe2 fcntl ppoll poll poll,ppoll splice,tee,sendfile,copy_file_range preadv2,pwritev2 \
      preadv2,pwritev2,splice,tee,pipe2,fcntl,poll,ppoll; do
      works "$helpers/deny" $calls $error
    done
  done
  end
fi

begin soft_limit
if [ "$(id -u)" -ne 0 ]; then
  skip soft_limit 'not root'
else
  chmod 777 .
  run "$helpers/as_nobody" "$helpers/soft_limit" true
  if [ "$status" -eq 77 ]; then
    skip soft_limit "$err"
  else
    rm -f f g o err
    works "$helpers/as_nobody" "$helpers/soft_limit"
    end
  fi
fi

# A hundred outputs past the limits of descriptors and of the library's large pipes.
begin hundred
outputs=$(awk 'BEGIN { for (i = 0; i < 100; i++) print "out" i }')
for limit in 64 110 210 320 1024; do
  rm -f out*
  cat stream | (ulimit -n "$limit" && exec "$gush" tee $outputs 2> err) > o
  is "standard output, $limit descriptors" "$(cksum < o)" "$sum"
  files=$(for f in out*; do echo x; done | wc -l)
  wanted=$((limit < 110 ? limit - 6 : 100)) # the shell keeps one or two
  is "at least $wanted files, $limit descriptors" "$((files >= wanted))" 1
  is "messages, $limit descriptors" "$(grep -c ': Too many open files$' err)" "$((100 - files))"
  is "different ones, $limit descriptors" "$(cksum < o; for f in out*; do cksum < "$f"; done | sort -u)" "$sum
$sum"
done
end
finish
