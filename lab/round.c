/* SPDX-License-Identifier: MIT */
#include "round.h"

#include "ends.h"
#include "reason.h"
#include "sys.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define GRACE_NS 2000000000 /* how long an end may take to notice that it is to stop, before it is killed */
#define PREPARE_NS 20000000000 /* 512 MiB of 4 KiB pages took 0.5 s; 20 s means stuck */

struct round {
	struct end_setup setup;
	pid_t pid[ENDS];
	int status[ENDS]; /* as waitpid tells */
	int signal_fd;	  /* -1: we are stopping already */
	bool cut, interrupted, stuck, killed;
};

static int start_ends(struct round *r)
{
	pid_t parent = getpid();

	for (int i = 0; i < r->setup.ends; i++) {
		r->pid[i] = fork();
		if (r->pid[i] < 0) {
			int error = -errno;

			for (int k = i; k < r->setup.ends; k++)
				gi_pipe_close(&r->setup.news[k]); /* no news will come from these */
			return error;
		}
		if (r->pid[i] == 0)
			end_run(&r->setup, i, parent);
		gi_pipe_close_write(&r->setup.news[i]);
	}
	gi_pipe_close(&r->setup.data);
	gi_pipe_close_read(&r->setup.go);
	return 0;
}

enum news { NEWS_READY, NEWS_ENDED };

/* Takes one end's news: true when it is what we wait for. An end that has ended is not ready, but settled. */
static bool take_news(struct gi_pipe *news, enum news wanted)
{
	char byte;

	if (gi_sys_read(news->read_fd, &byte, 1) > 0)
		return wanted == NEWS_READY;
	gi_pipe_close_read(news);
	return true;
}

/* Waits until each end is ready, or has ended. False when the time is over or we are told to stop. */
static bool wait_for_ends(struct round *r, enum news wanted, int64_t time_ns)
{
	int64_t end_ns = gi_sys_now_ns() + time_ns;
	bool settled[ENDS] = { false, r->setup.ends < ENDS };

	while (!settled[SENDER] || !settled[RECEIVER]) {
		struct pollfd fds[ENDS + 1] = { { .fd = r->signal_fd, .events = POLLIN } };
		int64_t left = end_ns - gi_sys_now_ns();

		for (int i = 0; i < ENDS; i++) {
			settled[i] |= r->setup.news[i].read_fd < 0;
			fds[1 + i] = (struct pollfd){ .fd = settled[i] ? -1 : r->setup.news[i].read_fd,
				.events = POLLIN };
		}
		if (settled[SENDER] && settled[RECEIVER])
			break;
		if (left <= 0 || gi_sys_poll(fds, ENDS + 1, left) < 0)
			return false;
		if (fds[0].revents) {
			r->interrupted = true;
			return false;
		}
		for (int i = 0; i < ENDS; i++)
			if (fds[1 + i].revents)
				settled[i] = take_news(&r->setup.news[i], wanted);
	}
	return true;
}

static void stop_ends(struct round *r)
{
	atomic_store(&r->setup.shared->stop, true);
	gi_pipe_close_write(&r->setup.go); /* those that still wait for it, too */
	r->signal_fd = -1;
	if (wait_for_ends(r, NEWS_ENDED, GRACE_NS))
		return;
	r->killed = true;
	for (int i = 0; i < r->setup.ends; i++)
		if (r->pid[i] > 0)
			kill(r->pid[i], SIGKILL);
}

static void reap_ends(struct round *r)
{
	for (int i = 0; i < r->setup.ends; i++)
		while (r->pid[i] > 0 && waitpid(r->pid[i], &r->status[i], 0) < 0 && errno == EINTR)
			;
}

static int open_round(struct round *r)
{
	void *memory = mmap(
		NULL, sizeof(*r->setup.shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int ret;

	if (memory == MAP_FAILED)
		return -errno;
	r->setup.shared = memory;
	ret = gi_pipe_open(&r->setup.data);
	if (ret == 0)
		ret = gi_pipe_open(&r->setup.go);
	for (int i = 0; ret == 0 && i < r->setup.ends; i++)
		ret = gi_pipe_open(&r->setup.news[i]);
	return ret;
}

static void close_round(struct round *r)
{
	gi_pipe_close(&r->setup.data);
	gi_pipe_close(&r->setup.go);
	for (int i = 0; i < ENDS; i++)
		gi_pipe_close(&r->setup.news[i]);
	if (r->setup.shared)
		munmap(r->setup.shared, sizeof(*r->setup.shared));
}

static void run_ends(struct round *r)
{
	bool ready = wait_for_ends(r, NEWS_READY, PREPARE_NS);

	if (ready) {
		gi_pipe_close_write(&r->setup.go);
		if (wait_for_ends(r, NEWS_ENDED, r->setup.plan->time_ns))
			return;
	}
	r->stuck = !ready && !r->interrupted;
	r->cut = ready && !r->interrupted;
	stop_ends(r);
}

/* ---- what came out ---- */

static void add_figures(const struct end_report *report, struct round_figures *f)
{
	f->cpu_s += report->used.cpu_s;
	f->switches += report->used.waits + report->used.preemptions;
	f->preemptions += report->used.preemptions;
	f->faults += report->used.faults;
	f->checked_bytes += report->checked_bytes;
	f->bad_bytes += report->bad_bytes;
}

/* The clock and the bytes are the receiver's: what was sent counts when it has arrived. */
static void collect_figures(const struct round *r, struct round_figures *f)
{
	const struct end_report *last = &r->setup.shared->report[r->setup.ends - 1];

	*f = (struct round_figures){
		.seconds = (double)(last->end_ns - last->start_ns) * 1e-9,
		.bytes = last->end_bytes - last->start_bytes,
	};
	for (int i = 0; i < r->setup.ends; i++)
		add_figures(&r->setup.shared->report[i], f);
}

static void fail(struct round_result *ret, const char *reason)
{
	ret->end = ROUND_FAILED;
	snprintf(ret->reason, sizeof(ret->reason), "%s", reason);
}

/*
 * The sender first: one that died makes the receiver's input end early, while a receiver that died only makes
 * the sender stop.
 */
static void judge(const struct round *r, struct round_result *ret)
{
	if (r->killed) {
		fail(ret, "did not stop when told to and had to be killed");
		return;
	}
	for (int i = 0; i < r->setup.ends; i++) {
		const struct end_report *report = &r->setup.shared->report[i];

		if (WIFSIGNALED(r->status[i])) {
			ret->end = reason_of_signal(WTERMSIG(r->status[i]), ret->reason, sizeof(ret->reason));
			return;
		}
		if (report->error) {
			ret->end = reason_of_error(
				report->failed_at, report->error, ret->reason, sizeof(ret->reason));
			return;
		}
	}
	if (r->stuck) {
		fail(ret, "was not ready after 20 s");
		return;
	}
	ret->end = r->cut ? ROUND_CUT : ROUND_DONE;
	collect_figures(r, &ret->figures);
}

void round_run(const struct round_plan *plan, struct round_result *ret)
{
	struct round r = {
		.setup = {
			.plan = plan,
			.data = GI_PIPE_NONE,
			.go = GI_PIPE_NONE,
			.news = { GI_PIPE_NONE, GI_PIPE_NONE },
			.ends = plan->step->reference ? 1 : ENDS,
		},
		.signal_fd = plan->signal_fd,
	};
	int error = open_round(&r);

	*ret = (struct round_result){ 0 };
	if (error == 0) {
		error = start_ends(&r);
		if (error == 0)
			run_ends(&r);
		else
			stop_ends(&r);
		reap_ends(&r);
	}
	if (error)
		ret->end = reason_of_error("starting the processes", error, ret->reason, sizeof(ret->reason));
	else if (r.interrupted)
		ret->end = ROUND_INTERRUPTED;
	else
		judge(&r, ret);
	close_round(&r);
}
