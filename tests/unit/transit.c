/* SPDX-License-Identifier: MIT */
/* src/transit.c: a pipe comes back from the pool clean, or not at all; a child shares none with its parent.
 */
#include "transit.h"

#include "support.h"

#define POOLED 4
#define ENLARGED 8

static ino_t inode(const struct gi_transit *t)
{
	struct stat st = { 0 };

	fstat(t->pipe.read_fd, &st);
	return st.st_ino;
}

static struct gi_transit get(void)
{
	struct gi_transit t = GI_TRANSIT_NONE;

	CHECK_INT(gi_transit_get(&t), 0);
	CHECK(t.pipe.read_fd >= 0 && t.pipe.write_fd >= 0 && t.capacity_bytes > 0);
	return t;
}

static void clean_is_reused(void)
{
	struct fds before = fds_now();
	struct gi_transit t = get();
	ino_t first = inode(&t);
	char text[4] = "";

	CHECK_INT(write(t.pipe.write_fd, "abc", 3), 3);
	CHECK_INT(read(t.pipe.read_fd, text, 3), 3);
	gi_transit_put(&t, 0);
	CHECK(t.pipe.read_fd == -1 && t.pipe.write_fd == -1);
	gi_transit_put(&t, 0); /* none: nothing happens */
	t = get();
	CHECK_INT(inode(&t), first);
	CHECK_INT(fds_opened_since(&before), 2);
	gi_transit_put(&t, 0);
}

static void check_dirty(size_t bytes_in_it, size_t bytes_said)
{
	struct gi_transit t = get();
	ino_t first = inode(&t);
	int fd = t.pipe.read_fd;

	for (size_t i = 0; i < bytes_in_it; i++)
		CHECK_INT(write(t.pipe.write_fd, "d", 1), 1);
	gi_transit_put(&t, bytes_said);
	CHECK(fcntl(fd, F_GETFD) < 0 && errno == EBADF);
	for (int i = 0; i < 2 * POOLED; i++) {
		struct gi_transit other = get();

		CHECK(inode(&other) != first);
		close(other.pipe.read_fd);
		close(other.pipe.write_fd);
	}
}

static void dirty_never(void)
{
	check_dirty(3, 3);
	check_dirty(1, 0); /* said to be empty: it is looked at */
	check_dirty(0, 1); /* said not to be */
}

static void pool_is_small(void)
{
	struct fds before = fds_now();
	struct gi_transit t[3 * POOLED];

	for (size_t i = 0; i < COUNT(t); i++)
		t[i] = get();
	for (size_t i = 0; i < COUNT(t); i++)
		gi_transit_put(&t[i], 0);
	CHECK_INT(fds_opened_since(&before), 2 * POOLED);
}

static void enlarged_are_few(void)
{
	struct gi_transit t[ENLARGED + 2];
	size_t large = 0;

	for (size_t i = 0; i < COUNT(t); i++) {
		t[i] = get();
		gi_transit_enlarge(&t[i]);
		large += t[i].enlarged;
		CHECK(t[i].enlarged == (t[i].capacity_bytes == 1 << 20));
	}
	if (large == 0)
		SKIP("no pipe can be enlarged here");
	CHECK_INT(large, ENLARGED);
	gi_transit_enlarge(&t[0]); /* once is enough */
	gi_transit_put(&t[0], 1);  /* closed: another may be large now */
	gi_transit_enlarge(&t[ENLARGED]);
	gi_transit_enlarge(&t[ENLARGED + 1]);
	CHECK(t[ENLARGED].enlarged && !t[ENLARGED + 1].enlarged);
	for (size_t i = 0; i < COUNT(t); i++)
		gi_transit_put(&t[i], 1);
}

static struct gi_transit pooled, in_use;

/* The parent has one pipe in its pool, and one in use. */
static void as_child(void)
{
	int used_fd = in_use.pipe.read_fd;
	ino_t pool_inode = inode(&pooled), used_inode = inode(&in_use);
	struct gi_transit t = get();

	CHECK(inode(&t) != pool_inode);
	gi_transit_put(&t, 0);
	gi_transit_put(&in_use, 0); /* the child leaves its parent's transfer */
	CHECK(fcntl(used_fd, F_GETFD) < 0);
	for (int i = 0; i < 2 * POOLED; i++) {
		struct gi_transit other = get();

		CHECK(inode(&other) != used_inode && inode(&other) != pool_inode);
	}
}

static void forked_child(void)
{
	struct gi_transit again;
	ino_t pool_inode;

	in_use = get();
	pooled = get();
	pool_inode = inode(&pooled);
	again = pooled;
	gi_transit_put(&again, 0);
	in_child(as_child);
	again = get(); /* the parent's pool is as it was */
	CHECK_INT(inode(&again), pool_inode);
	CHECK_INT(write(in_use.pipe.write_fd, "x", 1), 1);
	gi_transit_put(&again, 0);
	gi_transit_put(&in_use, 1);
}

static atomic_int mixed_up, go_on;

static void *hammer(void *arg)
{
	char tag = *(char *)arg, got;

	for (int i = 0; i < 3000 || atomic_load(&go_on); i++) {
		struct gi_transit t = GI_TRANSIT_NONE;

		if (gi_transit_get(&t) < 0 || write(t.pipe.write_fd, &tag, 1) != 1 ||
			read(t.pipe.read_fd, &got, 1) != 1 || got != tag)
			atomic_fetch_add(&mixed_up, 1);
		gi_transit_put(&t, 0);
	}
	return NULL;
}

static void threads(void)
{
	char tags[] = "abcdefgh";
	pthread_t thread[8];

	for (size_t i = 0; i < COUNT(thread); i++)
		thread[i] = start_thread(hammer, &tags[i]);
	for (size_t i = 0; i < COUNT(thread); i++)
		pthread_join(thread[i], NULL);
	CHECK_INT(atomic_load(&mixed_up), 0);
}

static void first_use(void)
{
	struct gi_transit t = GI_TRANSIT_NONE;

	alarm(5);
	CHECK_INT(gi_transit_get(&t), 0);
	gi_transit_put(&t, 0);
}

/* A fork while another thread is in the pool: the child must not wait for that thread for ever. */
static void fork_beside_threads(void)
{
	char tags[] = "xy";
	pthread_t thread[2];

	atomic_store(&go_on, 1);
	for (size_t i = 0; i < COUNT(thread); i++)
		thread[i] = start_thread(hammer, &tags[i]);
	for (int i = 0; i < 300 && test_bad == 0; i++)
		in_child(first_use);
	atomic_store(&go_on, 0);
	for (size_t i = 0; i < COUNT(thread); i++)
		pthread_join(thread[i], NULL);
}

int main(void)
{
	alarm(HANG_SECONDS);
	TEST(clean_is_reused);
	TEST(dirty_never);
	TEST(pool_is_small);
	TEST(enlarged_are_few);
	TEST(forked_child);
	TEST(threads);
	TEST(fork_beside_threads);
	return test_end();
}
