/* SPDX-License-Identifier: MIT */
/*
 * The gauntlet: counter-stamped bytes under every policy of a producer, through middlemen that hold pages and
 * readers that look late. Each configuration is first run without protection: where that shows no corruption,
 * it proves nothing about corruption, and is not counted as one that could.
 *
 *	producer -> [pipe] -> middleman -> [pipe] -> reader
 *
 * The producer is a process of its own and all others are its children; what they saw is on a board that
 * they share. Where a tool of ours produces, it is one of the children (tools.c).
 */
#ifndef GAUNTLET_H
#define GAUNTLET_H

#include <gush.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define COUNT(array) (sizeof(array) / sizeof(*(array)))
#define KIB ((size_t)1 << 10)
#define MIB ((size_t)1 << 20)
#define THREADS_MOST 4
#define DEFAULT_RING (32 * MIB)

enum policy {
	POLICY_NAIVE,	 /* a control: vmsplice from a ring that is used again regardless */
	POLICY_UNSTABLE, /* another: OUR_STABLE, without that option */
	POLICY_BARRIER,	 /* the ring of NAIVE, with src/barrier.h once a pass */
	POLICY_COPY,
	POLICY_CONSTANT,
	POLICY_REPEAT,
	POLICY_PROTECT,
	POLICY_TRUST,
	POLICY_GIVE,
	POLICY_OUR_YES, /* from here on: gush yes, gush cat of a file, and so on */
	POLICY_OUR_CAT,
	POLICY_OUR_FORMAT, /* cat -n, cat -A */
	POLICY_OUR_TEE,
	POLICY_OUR_STABLE, /* cat and tee --stable, of a file that is changed meanwhile */
	POLICIES,
};

enum middle {
	MIDDLE_NONE,
	MIDDLE_HOLDER,	 /* keeps pages in pipes of its own, for random times and many passes of the ring */
	MIDDLE_TCP,	 /* a slow receiver copies */
	MIDDLE_TCP_PIPE, /* a slow receiver splices onward */
	MIDDLE_COPY,	 /* gush_copy */
	MIDDLE_FANOUT,	 /* gush_fanout_open, with a second reader */
	MIDDLE_OUR_CAT,	 /* gush cat, and gush tee, of the build that is tested */
	MIDDLE_OUR_TEE,
	MIDDLE_CAT,
	MIDDLE_PV,
	MIDDLE_TEE,
	MIDDLES,
};

enum reader {
	READER_FAST,
	READER_SLOW,
	READER_SPLICING, /* into pipes of its own; takes more first, and only then looks */
	READER_STALLING,
	READER_DYING, /* half-way */
	READERS,
};

/* What else goes on in the producing process. */
enum {
	TROUBLE_FORKS = 1 << 0,	  /* now and then, as one that starts commands */
	TROUBLE_SIGNALS = 1 << 1, /* thousands a second, with a handler that restarts nothing */
	TROUBLE_LOCKED = 1 << 2,  /* mlockall */
	TROUBLE_SMALL = 1 << 3,	  /* no huge pages */
};

enum style { STYLE_ALIGNED, STYLE_ODD, STYLE_SMALL, STYLES };

/* Bugs of a tool, planted behind it. */
enum mangle {
	MANGLE_NONE,
	MANGLE_WRONG, /* a byte is another */
	MANGLE_LOST,
	MANGLE_DOUBLED,
	MANGLE_STATUS, /* it fails */
	MANGLE_FILE,   /* a byte is another in the file that tee writes */
};

struct text;
struct tool;

struct config {
	enum policy policy;
	enum middle middle;
	enum reader reader;
	enum style style; /* of the sizes that are reserved and committed */
	uint64_t seed;	  /* of every random number in it */
	size_t pipe_bytes;
	size_t ring_bytes; /* 0: what the library chooses */
	uint64_t total_bytes;
	uint64_t wrap_bytes; /* the counter begins again there */
	unsigned threads;    /* 0: one, and no frames (stream.h) */
	unsigned pause_us;   /* how long those who rest at random do so, in all */
	bool nonblock;
	unsigned troubles; /* TROUBLE_... */
	enum mangle mangle;
	const struct tool *tool; /* while one of ours produces */
	const struct text *text; /* what it writes; NULL: the counter */
};

/* What one of those who verify saw. */
struct seen {
	uint64_t bytes, words, bad;
	uint64_t bytes_by[THREADS_MOST]; /* payload */
	bool done;			 /* it came to the end */
};

enum { SEER_READER, SEER_SIDE, SEER_HOLDER, SEER_FILE, SEERS };

struct board {
	uint64_t produced, delivered;
	uint64_t produced_by[THREADS_MOST];
	int error;	    /* the producer's first */
	char complaint[96]; /* what it did that it must not */
	char used[96];	    /* the ways it says it used; of a tool, its command */
	unsigned lies;	    /* of a planted bug */
	struct seen seen[SEERS];
};

/* random.c: not the C library's, so that a seed means the same everywhere. */
struct rng {
	uint64_t state;
};
uint64_t rng_next(struct rng *r);
uint64_t rng_below(struct rng *r, uint64_t bound);
bool rng_one_in(struct rng *r, unsigned n);
/* Up to most_us, as long as the budget is not spent. */
void rng_pause(struct rng *r, unsigned most_us, unsigned *budget_us);

/* table.c */
extern const char *const policy_names[], *const middle_names[], *const reader_names[];
void config_name(const struct config *c, char *ret_name, size_t bytes);
/* Draws all but policy, middleman and reader; large: default rings too, and more bytes. */
void config_draw(struct config *c, uint64_t seed, bool large);
const char *our_gush(void); /* the path of gush, of the build that this is of */
/* NULL, or why it cannot be run here. */
const char *config_missing(const struct config *c);
/* Some are no use, or not promised to work. */
bool config_makes_sense(const struct config *c);
/* Whether a bad word is a failure. */
bool config_is_judged(const struct config *c);
bool policy_is_control(enum policy policy);
/* The one that must show corruption where this policy shows none. */
enum policy control_of(enum policy policy);
bool policy_is_tool(enum policy policy);

/* producers.c, naive.c: until total_bytes, or an error of the sink. */
void produce(const struct config *c, int fd, struct board *board);
void produce_naive(const struct config *c, int fd, struct board *board);
/* How many bytes to commit next, by style. */
size_t draw_bytes(const struct config *c, struct rng *r);
/* Called as bytes are produced, by a thread at a time; NULL: not. */
extern void (*produce_hook)(uint64_t bytes_so_far);

/* troubles.c: for the time between them. */
void troubles_begin(const struct config *c);
void troubles_end(const struct config *c);
const char *troubles_name(unsigned troubles);

/* run.c */
enum outcome { RUN_ENDED, RUN_HUNG, RUN_CRASHED };
/* In this process. */
void run_here(const struct config *c, struct board *board);
/* In a child, which is killed when it takes too long. */
enum outcome run_guarded(const struct config *c, struct board *board);
struct board *board_new(void);
/* What the producer must not do; the first is kept. */
__attribute__((format(printf, 2, 3))) void board_complain(struct board *board, const char *format, ...);
/* NULL, or what is wrong about it; the text lasts until the next call. */
const char *judge(const struct config *c, const struct board *board);
uint64_t board_bad(const struct board *board);
uint64_t board_words(const struct board *board);
unsigned deadline_ms(void);

/* soak.c: 0 or 1, as a test. */
int soak(unsigned seconds, uint64_t seed);

#endif
