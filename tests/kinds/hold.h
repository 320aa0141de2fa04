/* SPDX-License-Identifier: MIT */
/*
 * A reader that holds pages: a child that passes the bytes it gets on into pipes or a socket of its own,
 * keeps them there for some MiB, and then looks whether each word is still what it was when it was sent. What
 * it finds is seen by all processes.
 */
#ifndef HOLD_H
#define HOLD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define MIB ((uint64_t)1 << 20)

enum hold_kind {
	HOLD_PIPES,  /* splice */
	HOLD_TEE,    /* tee, and what it was made of is thrown away */
	HOLD_TCP,    /* splice, and the socket's receiver reads late */
	HOLD_SPARSE, /* one page of each 2 MiB is kept to the end, all others are read */
	HOLD_KINDS
};
extern const char *const hold_names[HOLD_KINDS];

struct hold {
	enum hold_kind kind;
	unsigned lag_mib;     /* held at a time; 0: 8 */
	uint64_t until_bytes; /* from there on it reads and holds nothing; 0: never */
	unsigned pause_ms;    /* when it first holds as much as it can */
};

/* In shared memory. */
struct held {
	uint64_t bytes, bad;	/* bad: words of 8 bytes */
	uint64_t first_bad, is; /* the first: where, and what it was then */
	uint64_t most;		/* held at a time */
	bool ended;
};

struct holding {
	int fd; /* to write to */
	pid_t pid;
	volatile struct held *held;
};

void hold_start(struct holding *h, const struct hold *how);
void hold_end(struct holding *h); /* closes, waits, frees nothing: h->held is there to be read */
/* And all has arrived, unchanged. */
void hold_end_good(struct holding *h, uint64_t bytes);

/* What the stream has at each multiple of 8. */
static inline uint64_t hold_word(uint64_t at)
{
	return (at / 8 + 1) * 0x9e3779b97f4a7c15u; /* no byte of it is the same for long */
}

#endif
