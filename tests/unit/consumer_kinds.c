/* SPDX-License-Identifier: MIT */
/* Consumers of sources that have ways of their own: files, messages, terminals. */
#include "consuming.h"

#include <termios.h>

static void offset_is_put_back(void)
{
	int fd = file_of(TOTAL);
	struct gush_consumer *c;

	lseek(fd, 10, SEEK_SET);
	c = open_with(fd, 0, 0, 0);
	CHECK_INT(peek(c, 5000), 1);
	CHECK_INT(gush_consumer_consume(c, 5), 0);
	gush_consumer_close(c);
	CHECK_INT(lseek(fd, 0, SEEK_CUR), 15);
	c = open_with(fd, 0, 0, 0);
	check_got(split(c, '\n'), stamp + 15, TOTAL - 15); /* it was read to the end, and is one record */
	gush_consumer_close(c);
	close(fd);
}

static void messages(void)
{
	int s[2];
	struct gush_consumer *c;

	make_sockets(SOCK_SEQPACKET, s);
	c = open_with(s[0], 0, 10000, GUSH_NONBLOCK);
	check_none(next(c), -EAGAIN);
	put(s[1], "abc");
	put(s[1], "de\nf");
	CHECK_GOT(next(c), "abc");
	CHECK_GOT(peek(c, 1), "de\nf");
	put(s[1], "gh\n");
	CHECK_GOT(split(c, '\n'), "de\n");
	CHECK_GOT(split(c, '\n'), "fgh\n");
	CHECK_INT(write(s[1], stamp, 9999), 9999);
	put(s[1], "yz");
	check_got(peek(c, 9999), stamp, 9999);
	check_none(peek(c, 10000), -EMSGSIZE); /* the next message does not fit behind it */
	check_got(next(c), stamp, 9999);
	CHECK_GOT(next(c), "yz");
	CHECK_INT(write(s[1], stamp, 10000), 10000);
	CHECK_INT(write(s[1], stamp, 10001), 10001);
	put(s[1], "behind");
	check_got(next(c), stamp, 10000);
	check_none(next(c), -EMSGSIZE);
	check_none(next(c), -EMSGSIZE);
	gush_consumer_close(c);
	CHECK_INT(read(s[0], (char[16]){ 0 }, 16), 16); /* it is there still */
	c = open_with(s[0], 0, 0, 0);
	CHECK_GOT(next(c), "behind");
	CHECK_INT(send(s[1], "", 0, 0), 0);
	check_none(next(c), 0);
	gush_consumer_close(c);
	close(s[0]);
	close(s[1]);
}

/* [0]: the slave, in cooked mode; [1]: the master. */
static bool make_terminal(int fds[2])
{
	struct termios quiet;

	fds[1] = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (fds[1] < 0 || grantpt(fds[1]) < 0 || unlockpt(fds[1]) < 0)
		return false;
	fds[0] = open(ptsname(fds[1]), O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (fds[0] < 0 || tcgetattr(fds[0], &quiet) < 0)
		return false;
	quiet.c_lflag &= ~(tcflag_t)ECHO;
	quiet.c_oflag &= ~(tcflag_t)OPOST;
	return tcsetattr(fds[0], TCSANOW, &quiet) == 0;
}

/* A terminal goes on after its end: it must not be asked again. */
static void end_of_a_terminal(void)
{
	struct gush_consumer *c;
	int t[2];

	if (!make_terminal(t))
		SKIP("no pseudo-terminals");
	c = open_with(t[0], 0, 0, 0);
	put(t[1], "one\n\004two\n");
	CHECK_GOT(split(c, '\n'), "one\n");
	check_none(split(c, '\n'), 0);
	check_none(next(c), 0);
	gush_consumer_close(c);
	c = open_with(t[0], 0, 0, 0);
	CHECK_GOT(next(c), "two\n");
	gush_consumer_close(c);
	close(t[0]);
	close(t[1]);
}

/* The master side can neither be opened again nor read without waiting. */
static void master_of_a_terminal(void)
{
	struct gush_consumer *c;
	int t[2];

	if (!make_terminal(t))
		SKIP("no pseudo-terminals");
	for (uint32_t wait = GUSH_WAIT_DEFAULT; wait <= GUSH_WAIT_BLOCK; wait++) {
		struct gush_consumer_options o = GUSH_CONSUMER_OPTIONS_INIT;

		o.wait = wait;
		CHECK_INT(gush_consumer_open(t[1], &o, &c), 0);
		put(t[0], "line\n");
		CHECK_GOT(split(c, '\n'), "line\n");
		gush_consumer_close(c);
	}
	c = open_with(t[1], 0, 0, GUSH_NONBLOCK);
	check_none(next(c), -EAGAIN);
	put(t[0], "abc");
	CHECK_GOT(next(c), "abc");
	check_none(next(c), -EAGAIN);
	close(t[0]);
	check_none(next(c), -EIO);
	check_none(next(c), -EIO);
	gush_consumer_close(c);
	close(t[1]);
}

int main(void)
{
	alarm(HANG_SECONDS);
	fill_stamp();
	TEST(offset_is_put_back);
	TEST(messages);
	TEST(end_of_a_terminal);
	TEST(master_of_a_terminal);
	return test_end();
}
