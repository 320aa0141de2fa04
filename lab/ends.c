/* SPDX-License-Identifier: MIT */
#include "ends.h"

#include "sys.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

static void snapshot(struct end_report *report, uint64_t bytes)
{
	report->start_bytes = bytes;
	report->start = usage_now();
	report->start_ns = gi_sys_now_ns();
}

static void finish_report(struct end_report *report, uint64_t bytes, int error, const char *failed_at)
{
	report->end_ns = gi_sys_now_ns();
	report->used = usage_since(&report->start);
	report->end_bytes = bytes;
	report->error = error;
	snprintf(report->failed_at, sizeof(report->failed_at), "%s", failed_at ? failed_at : "");
}

/* Says that this end is ready and waits for the other and for the parent. */
static void rendezvous(struct end_setup *setup, struct end_report *report)
{
	char byte = 'r';

	gi_sys_write(setup->news[report - setup->shared->report].write_fd, &byte, 1);
	gi_sys_read(setup->go.read_fd, &byte, 1);
	snapshot(report, 0);
}

static bool cut_short(const struct end_setup *setup)
{
	return atomic_load_explicit(&setup->shared->stop, memory_order_relaxed);
}

static void send_end(struct end_setup *setup, struct end_report *report)
{
	struct sender s;
	int ret = sender_prepare(&s, setup->data.write_fd, &setup->plan->step->sender);

	s.stop = &setup->shared->stop;
	if (ret == 0) {
		rendezvous(setup, report);
		if (setup->plan->warm_up_bytes)
			ret = sender_run(&s, setup->plan->warm_up_bytes);
		if (ret == 0 && !cut_short(setup)) {
			snapshot(report, s.sent_bytes);
			ret = sender_run(&s, 0);
		}
		if (ret == -EPIPE)
			ret = 0; /* the receiver has what it wants */
	}
	finish_report(report, s.sent_bytes, ret, s.failed_at);
	gi_pipe_close_write(&setup->data);
	sender_release(&s);
}

static struct receiver_config receiver_config(const struct round_plan *plan)
{
	struct receiver_config config = plan->step->receiver;

	config.check = plan->check;
	if (plan->check && config.call == RECEIVER_SPLICE)
		config.call = RECEIVER_HOLD;
	return config;
}

static void receive_end(struct end_setup *setup, struct end_report *report)
{
	uint64_t warm_up = setup->plan->warm_up_bytes, bytes = setup->plan->bytes;
	struct receiver_config config = receiver_config(setup->plan);
	struct receiver rec;
	int ret = receiver_prepare(&rec, setup->data.read_fd, &config);

	rec.stop = &setup->shared->stop;
	if (ret == 0) {
		rendezvous(setup, report);
		ret = receiver_run(&rec, warm_up);
		if (ret == 0 && !cut_short(setup)) {
			snapshot(report, rec.received_bytes);
			/* From what has come: the last call of the warm-up may have brought more than it
			 * asked for. */
			ret = receiver_run(&rec, bytes ? rec.received_bytes + bytes : UINT64_MAX);
		}
		if (ret == -ENODATA && cut_short(setup))
			ret = 0; /* the sender stopped first */
	}
	finish_report(report, rec.received_bytes, ret, rec.failed_at);
	report->checked_bytes = rec.seen.bytes;
	report->bad_bytes = rec.seen.bad_bytes;
	gi_pipe_close_read(&setup->data);
	receiver_release(&rec);
}

static int pass_until(struct end_setup *setup, struct reference_state *state, uint64_t *bytes, uint64_t limit)
{
	const struct reference *ref = setup->plan->step->reference;
	int ret = 0;

	while (ret == 0 && *bytes < limit && !cut_short(setup)) {
		ret = ref->pass(state);
		*bytes += ref->pass_bytes;
	}
	return ret;
}

static void reference_end(struct end_setup *setup, struct end_report *report)
{
	uint64_t warm_up = setup->plan->warm_up_bytes, bytes = 0;
	struct reference_state state;
	int ret;

	reference_init(&state);
	ret = setup->plan->step->reference->prepare(&state);
	if (ret == 0) {
		rendezvous(setup, report);
		ret = pass_until(setup, &state, &bytes, warm_up);
		if (ret == 0 && !cut_short(setup)) {
			snapshot(report, bytes);
			ret = pass_until(setup, &state, &bytes,
				setup->plan->bytes ? bytes + setup->plan->bytes : UINT64_MAX);
		}
	}
	finish_report(report, bytes, ret, state.failed_at);
	reference_release(&state);
}

int end_pin(int cpu)
{
	size_t bytes = CPU_ALLOC_SIZE(cpu + 1);
	cpu_set_t *set = CPU_ALLOC((size_t)cpu + 1);
	int ret;

	if (!set)
		return -ENOMEM;
	CPU_ZERO_S(bytes, set);
	CPU_SET_S((size_t)cpu, bytes, set);
	ret = sched_setaffinity(0, bytes, set) < 0 ? -errno : 0;
	CPU_FREE(set);
	return ret;
}

/* Who holds another's end open keeps it from being noticed. */
static void keep_own_ends(struct end_setup *setup, int which)
{
	gi_pipe_close_write(&setup->go);
	for (int i = 0; i < setup->ends; i++)
		if (i == which)
			gi_pipe_close_read(&setup->news[i]);
		else
			gi_pipe_close(&setup->news[i]);
	if (which == SENDER)
		gi_pipe_close_read(&setup->data);
	else
		gi_pipe_close_write(&setup->data);
}

void end_run(struct end_setup *setup, int which, pid_t parent)
{
	const struct placement *p = setup->plan->placement;
	struct end_report *report = &setup->shared->report[which];
	int ret;

	/* The measured processes go when the one that measures goes, even by SIGKILL. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	/*
	 * The parent's mask stays: a ^C that the terminal sends to all is the parent's to handle, which then
	 * stops us.
	 */
	signal(SIGPIPE, SIG_IGN);
	keep_own_ends(setup, which);

	ret = end_pin(which == SENDER ? p->sender_cpu : p->receiver_cpu);
	if (ret < 0)
		finish_report(report, 0, ret, "pinning to a CPU");
	else if (setup->plan->step->reference)
		reference_end(setup, report);
	else if (which == SENDER)
		send_end(setup, report);
	else
		receive_end(setup, report);
	_exit(report->error ? 1 : 0);
}
