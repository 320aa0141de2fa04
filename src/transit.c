/* SPDX-License-Identifier: MIT */
#include "transit.h"

#include "sys.h"

#include <pthread.h>
#include <sys/ioctl.h>

#define POOL_PIPES 4 /* enough for the threads of most programs to meet a free one */
/*
 * Of the 64 pipes of 1 MiB that a user may have: past them, every new pipe of that user, in any program, gets
 * two slots. So one process takes an eighth.
 */
#define ENLARGED_MOST 8

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct gi_transit pool[POOL_PIPES];
static size_t pool_count, enlarged_count;
static struct gi_origin pool_origin; /* a forked child must not share its parent's pipes */

static void lock_pool(void)
{
	pthread_mutex_lock(&lock);
}

static void unlock_pool(void)
{
	pthread_mutex_unlock(&lock);
}

/* A fork while another thread holds the lock would leave the child with it locked for ever. */
static void unlock_in_children(void)
{
	pthread_atfork(lock_pool, unlock_pool, unlock_pool);
}

/* With the lock held. In a child that forked since, the pipes are the parent's too: close our copies. */
static void disown_inherited(void)
{
	if (gi_origin_is_here(&pool_origin))
		return;
	while (pool_count > 0)
		gi_pipe_close(&pool[--pool_count].pipe);
	enlarged_count = 0;
	pool_origin = gi_origin_now();
}

static bool take_pooled(struct gi_transit *ret_transit)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	bool found = false;

	pthread_once(&once, unlock_in_children);
	pthread_mutex_lock(&lock);
	disown_inherited();
	if (pool_count > 0) {
		*ret_transit = pool[--pool_count];
		found = true;
	}
	pthread_mutex_unlock(&lock);
	return found;
}

int gi_transit_get(struct gi_transit *ret_transit)
{
	struct gi_transit fresh = GI_TRANSIT_NONE;
	int ret;

	if (take_pooled(ret_transit))
		return 0;
	ret = gi_pipe_open(&fresh.pipe);
	if (ret == 0)
		ret = gi_pipe_capacity(fresh.pipe.write_fd, &fresh.capacity_bytes);
	if (ret < 0) {
		gi_pipe_close(&fresh.pipe);
		return ret;
	}
	fresh.origin = gi_origin_now();
	*ret_transit = fresh;
	return 0;
}

static bool is_ours(const struct gi_transit *transit)
{
	return gi_origin_is_here(&transit->origin);
}

static bool reserve_enlargement(void)
{
	bool granted;

	pthread_mutex_lock(&lock);
	disown_inherited();
	granted = enlarged_count < ENLARGED_MOST;
	enlarged_count += granted;
	pthread_mutex_unlock(&lock);
	return granted;
}

static void return_enlargement(void)
{
	pthread_mutex_lock(&lock);
	if (enlarged_count > 0)
		enlarged_count--;
	pthread_mutex_unlock(&lock);
}

void gi_transit_enlarge(struct gi_transit *transit)
{
	if (transit->enlarged || transit->capacity_bytes >= GI_TRANSIT_LARGE || !reserve_enlargement())
		return;
	if (gi_pipe_grow(transit->pipe.write_fd, GI_TRANSIT_LARGE, &transit->capacity_bytes) == 0)
		transit->enlarged = true;
	else
		return_enlargement();
}

static bool put_into_pool(struct gi_transit *transit)
{
	bool room;

	pthread_mutex_lock(&lock);
	disown_inherited();
	room = pool_count < POOL_PIPES;
	if (room)
		pool[pool_count++] = *transit;
	pthread_mutex_unlock(&lock);
	return room;
}

/* Trust, and check: residue of one transfer in another is the worst of faults. */
static bool is_clean(const struct gi_transit *transit, size_t bytes_in_it)
{
	int unread = 0;

	return bytes_in_it == 0 && is_ours(transit) &&
	       gi_sys_ioctl(transit->pipe.read_fd, FIONREAD, &unread) == 0 && unread == 0;
}

void gi_transit_put(struct gi_transit *transit, size_t bytes_in_it)
{
	if (transit->pipe.read_fd < 0)
		return;
	if (!is_clean(transit, bytes_in_it) || !put_into_pool(transit)) {
		if (transit->enlarged && is_ours(transit))
			return_enlargement();
		gi_pipe_close(&transit->pipe);
	}
	*transit = (struct gi_transit)GI_TRANSIT_NONE;
}

bool gi_transit_may_enlarge(void)
{
	return reserve_enlargement();
}

void gi_transit_enlarge_end(struct gi_endpoint *end, uint64_t moved_bytes)
{
	size_t capacity;

	if (end->kind != GI_KIND_PIPE || end->capacity_bytes >= GI_TRANSIT_LARGE ||
		moved_bytes < GI_GROW_AFTER * end->capacity_bytes)
		return;
	capacity = GI_TRANSIT_LARGE; /* refused: do not ask again */
	if (reserve_enlargement() && gi_pipe_grow(end->fd, GI_TRANSIT_LARGE, &capacity) < 0)
		return_enlargement();
	end->capacity_bytes = capacity;
}
