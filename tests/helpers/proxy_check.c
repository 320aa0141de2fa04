/* SPDX-License-Identifier: MIT */
/*
 * proxy_check PROXY CASE: runs the proxy in front of a server of our own, lets clients talk through it, and
 * looks at every byte, at the proxy's descriptors and at its CPU time. Prints what is wrong; exits 0 or 1.
 */
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ENDS_MOST 512
#define SERVER_KEY 1000000
#define POOL_PIPE_ENDS 8 /* what libgush keeps when nothing is to be done: gush(3) */
#define LIMIT_S 60

/* One end of a connection through the proxy; it sends `total` bytes of a stream that its key determines. */
struct end {
	int fd;		   /* -1: closed */
	bool client, held; /* held: neither reads nor writes for now */
	bool answers;	   /* sends only after the other end has finished */
	bool shut, ended;
	int error;
	uint32_t key;
	uint64_t sent, received, total;
};

static struct end ends[ENDS_MOST];
static int end_count, listener = -1, wrong;
static uint64_t server_total;
static bool server_answers, server_held;
static pid_t proxy;
static int proxy_port;

#define EXPECT(good, ...)                                                                                    \
	do {                                                                                                 \
		if (!(good)) {                                                                               \
			printf("  " __VA_ARGS__);                                                            \
			printf("\n");                                                                        \
			wrong++;                                                                             \
		}                                                                                            \
	} while (0)

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* The first four bytes of a client's stream are its key, by which the server knows what to expect. */
static unsigned char stream_byte(uint32_t key, uint64_t at)
{
	if (at < 4 && key < SERVER_KEY)
		return (unsigned char)(key >> (8 * at));
	return (unsigned char)((((uint32_t)at * 2654435761u) ^ (key * 0x9e3779b9u)) >> 23);
}

static int tcp(int port, int (*attach)(int, const struct sockaddr *, socklen_t))
{
	struct sockaddr_in address = { .sin_family = AF_INET,
		.sin_port = htons((uint16_t)port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (s < 0 || attach(s, (struct sockaddr *)&address, sizeof(address)) < 0) {
		perror("proxy_check: socket");
		exit(1);
	}
	return s;
}

static int port_of(int s)
{
	struct sockaddr_in address;
	socklen_t length = sizeof(address);

	getsockname(s, (struct sockaddr *)&address, &length);
	return ntohs(address.sin_port);
}

static void start_proxy(const char *path, int port)
{
	char text[16], line[16] = "";
	int out[2];

	snprintf(text, sizeof(text), "%d", port);
	if (pipe(out) < 0)
		exit(1);
	proxy = fork();
	if (proxy == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(out[1], STDOUT_FILENO);
		close(out[0]);
		close(out[1]);
		execl(path, path, text, (char *)NULL);
		_exit(127);
	}
	close(out[1]);
	if (read(out[0], line, sizeof(line) - 1) <= 0) {
		printf("  the proxy does not start\n");
		exit(1);
	}
	close(out[0]);
	proxy_port = atoi(line);
}

static struct end *add_end(int fd, bool client, uint64_t total)
{
	struct end *e = &ends[end_count];

	fcntl(fd, F_SETFL, O_NONBLOCK);
	*e = (struct end){ .fd = fd, .client = client, .total = total, .key = (uint32_t)end_count };
	end_count++;
	return e;
}

static struct end *connect_client(uint64_t total)
{
	return add_end(tcp(proxy_port, connect), true, total);
}

static void accept_server(void)
{
	int fd = accept(listener, NULL, NULL);
	struct end *e;

	if (fd < 0)
		return;
	e = add_end(fd, false, server_total);
	e->key = 0; /* to be learned */
	e->answers = server_answers;
	e->held = server_held;
}

/* ---- bytes ---- */

static void check_bytes(struct end *e, const unsigned char *bytes, ssize_t n)
{
	for (ssize_t i = 0; i < n; i++, e->received++) {
		if (!e->client && e->received < 4) {
			e->key |= (uint32_t)bytes[i] << (8 * e->received);
			continue;
		}
		if (bytes[i] != stream_byte(e->client ? e->key + SERVER_KEY : e->key, e->received)) {
			EXPECT(false, "key %u: byte %llu is wrong", e->key, (unsigned long long)e->received);
			exit(1);
		}
	}
}

static void receive(struct end *e)
{
	static unsigned char bytes[1 << 16];
	ssize_t n = read(e->fd, bytes, sizeof(bytes));

	if (n > 0)
		check_bytes(e, bytes, n);
	else if (n == 0 || (errno != EAGAIN && errno != EINTR))
		e->ended = true;
	if (n < 0 && e->ended)
		e->error = errno;
}

static bool may_send(const struct end *e)
{
	if (e->shut || e->error || (!e->client && e->received < 4))
		return false;
	return !e->answers || e->ended;
}

static void transmit(struct end *e)
{
	unsigned char bytes[8192];
	size_t n = 0;

	for (; n < sizeof(bytes) && e->sent + n < e->total; n++)
		bytes[n] = stream_byte(e->client ? e->key : e->key + SERVER_KEY, e->sent + n);
	if (n > 0) {
		ssize_t sent = write(e->fd, bytes, n);

		if (sent > 0)
			e->sent += (uint64_t)sent;
		else if (errno != EAGAIN)
			e->error = errno;
	}
	if (e->sent == e->total) {
		shutdown(e->fd, SHUT_WR);
		e->shut = true;
	}
}

/* ---- the loop ---- */

static bool is_over(const struct end *e)
{
	return e->fd < 0 || e->error || (e->shut && e->ended);
}

static void turn(void)
{
	struct pollfd fds[ENDS_MOST + 1] = { { listener, POLLIN, 0 } };
	int before = end_count;

	for (int i = 0; i < before; i++) {
		struct end *e = &ends[i];
		short events = e->ended ? 0 : POLLIN;

		if (may_send(e))
			events |= POLLOUT;
		fds[i + 1] = (struct pollfd){ is_over(e) || e->held || !events ? -1 : e->fd, events, 0 };
	}
	poll(fds, (nfds_t)before + 1, 20);
	if (fds[0].revents)
		accept_server();
	for (int i = 0; i < before; i++) {
		if (fds[i + 1].revents & (POLLIN | POLLHUP | POLLERR) && !ends[i].ended)
			receive(&ends[i]);
		if (fds[i + 1].revents & POLLOUT && may_send(&ends[i]))
			transmit(&ends[i]);
	}
}

static bool all_over(int count)
{
	int servers = 0;

	for (int i = 0; i < end_count; i++) {
		servers += !ends[i].client;
		if (!is_over(&ends[i]) && !ends[i].held)
			return false;
	}
	return servers >= count;
}

static void talk(int servers)
{
	int64_t end_ms = now_ms() + LIMIT_S * 1000;

	while (!all_over(servers) && now_ms() < end_ms)
		turn();
	EXPECT(all_over(servers), "not over after %d s", LIMIT_S);
}

static void turns_for(int ms)
{
	for (int64_t end_ms = now_ms() + ms; now_ms() < end_ms;)
		turn();
}

static void expect_all_complete(void)
{
	for (int i = 0; i < end_count; i++) {
		const struct end *e = &ends[i];

		EXPECT(e->error == 0, "key %u: %s", e->key, strerror(e->error));
		EXPECT(e->sent == e->total, "key %u sent only %llu", e->key, (unsigned long long)e->sent);
		for (int k = 0; k < end_count; k++)
			if (ends[k].client != e->client && ends[k].key == e->key)
				EXPECT(ends[k].received == e->total, "key %u: %llu of %llu arrived", e->key,
					(unsigned long long)ends[k].received, (unsigned long long)e->total);
	}
}

static void close_all(void)
{
	for (int i = 0; i < end_count; i++)
		if (ends[i].fd >= 0)
			close(ends[i].fd);
	end_count = 0;
}

/* ---- the proxy, seen from outside ---- */

static void count_descriptors(int *ret_all, int *ret_pipes)
{
	char path[64], target[64];
	struct dirent *entry;
	DIR *dir;

	*ret_all = *ret_pipes = 0;
	snprintf(path, sizeof(path), "/proc/%d/fd", proxy);
	dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		ssize_t n = readlinkat(dirfd(dir), entry->d_name, target, sizeof(target));

		if (entry->d_name[0] == '.')
			continue;
		++*ret_all;
		*ret_pipes += n > 5 && memcmp(target, "pipe:", 5) == 0;
	}
	EXPECT(dir != NULL, "%s: %s", path, strerror(errno));
	if (dir)
		closedir(dir);
}

static void expect_descriptors(const char *when, int others_before, int sockets)
{
	int all, pipes;

	for (int64_t end_ms = now_ms() + 2000; now_ms() < end_ms;) {
		count_descriptors(&all, &pipes);
		if (all - pipes == others_before + sockets && pipes <= POOL_PIPE_ENDS)
			return;
		usleep(10000);
	}
	EXPECT(false, "%s: the proxy has %d descriptors beside pipes, not %d, and %d pipe ends", when,
		all - pipes, others_before + sockets, pipes);
}

static long cpu_ms(void)
{
	unsigned long user = 0, system = 0;
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", proxy);
	f = fopen(path, "re");
	EXPECT(f && fscanf(f, "%*d (%*[^)]) %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user,
			    &system) == 2,
		"no CPU time in %s", path);
	if (f)
		fclose(f);
	return (long)(user + system) * 1000 / sysconf(_SC_CLK_TCK);
}

static void expect_idle(const char *when)
{
	long before = cpu_ms(), used;

	usleep(500000);
	used = cpu_ms() - before;
	EXPECT(used <= 20, "%s: the proxy uses %ld ms of CPU in 500", when, used);
}

/* ---- cases ---- */

static void one(void)
{
	server_total = 24 << 20;
	connect_client(32 << 20);
	talk(1);
	expect_all_complete();
}

static void empty(void)
{
	server_total = 0;
	connect_client(4);
	talk(1);
	expect_all_complete();
}

static void half_close(void)
{
	server_total = 3000000;
	server_answers = true;
	for (int i = 0; i < 10; i++)
		connect_client(1000000);
	talk(10);
	expect_all_complete();
}

static void many(void)
{
	int all, pipes;

	count_descriptors(&all, &pipes);
	server_total = 100000;
	server_held = true;
	for (int i = 0; i < 200; i++)
		connect_client(100000)->held = true;
	turns_for(300);
	EXPECT(end_count == 400, "%d ends, not 400", end_count);
	expect_descriptors("200 idle connections", all - pipes, 400);
	expect_idle("200 idle connections");
	for (int i = 0; i < end_count; i++)
		ends[i].held = false;
	talk(200);
	expect_all_complete();
}

/* Whom nobody reads from must not hold up the others, nor keep the proxy busy. */
static void slow(void)
{
	struct end *late;

	server_total = 50000;
	server_held = true;
	late = connect_client(64 << 20);
	turns_for(500);
	EXPECT(late->sent > 0 && late->sent < late->total, "nothing holds the sender up");
	expect_idle("a reader that does not read");
	server_held = false;
	for (int i = 0; i < 20; i++)
		connect_client(500000);
	late->held = true;
	talk(21);
	late->held = false;
	for (int i = 0; i < end_count; i++)
		ends[i].held = false;
	talk(21);
	expect_all_complete();
}

static void reset_by(bool by_client)
{
	const struct linger now = { .l_onoff = 1 };
	struct end *victim = NULL, *survivor = NULL;

	server_total = by_client ? 1000 : UINT64_C(1) << 30;
	connect_client(by_client ? UINT64_C(1) << 30 : 1000);
	turns_for(200);
	EXPECT(end_count == 2, "%d ends, not 2", end_count);
	victim = &ends[by_client ? 0 : 1];
	survivor = &ends[by_client ? 1 : 0];
	setsockopt(victim->fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
	close(victim->fd);
	victim->fd = -1;
	talk(1);
	EXPECT(survivor->error == ECONNRESET || survivor->error == EPIPE,
		"the other side of a reset sees: %s",
		survivor->error ? strerror(survivor->error) : "an ordinary end");
}

static void reset_by_client(void)
{
	reset_by(true);
}

static void reset_by_server(void)
{
	reset_by(false);
}

static void refused(void)
{
	struct end *e;

	close(listener);
	listener = -1;
	e = connect_client(1000000);
	talk(0);
	EXPECT(e->error != 0, "no server, and the client sees no error");
}

static const struct {
	const char *name;
	void (*run)(void);
} cases[] = { { "one", one }, { "empty", empty }, { "half_close", half_close }, { "many", many },
	{ "slow", slow }, { "reset_by_client", reset_by_client }, { "reset_by_server", reset_by_server },
	{ "refused", refused } };

int main(int argc, char **argv)
{
	int all, pipes;

	signal(SIGPIPE, SIG_IGN);
	alarm(100);
	listener = tcp(0, bind);
	if (argc != 3 || listen(listener, 400) < 0)
		return 2;
	fcntl(listener, F_SETFL, O_NONBLOCK);
	start_proxy(argv[1], port_of(listener));
	count_descriptors(&all, &pipes);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		if (strcmp(cases[i].name, argv[2]) != 0)
			continue;
		cases[i].run();
		close_all();
		expect_descriptors("at the end", all - pipes, 0);
		expect_idle("at the end");
		EXPECT(waitpid(proxy, NULL, WNOHANG) == 0, "the proxy has died");
		kill(proxy, SIGKILL);
		return wrong > 0;
	}
	return 2;
}
