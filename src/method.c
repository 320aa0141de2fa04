/* SPDX-License-Identifier: MIT */
#include "method.h"

#include "gush.h"
#include "transfer.h"

static const struct gi_method *const methods[] = {
	&gi_method_copy_file_range, /* the file system may share blocks, and copies without leaving the kernel
				     */
	&gi_method_splice,	    /* slots from pipe to pipe, pages from and to one */
	&gi_method_sendfile,	    /* a file's pages to a socket, without a pipe of ours */
	&gi_method_relay,	    /* through a pipe of ours */
	&gi_method_read_write,	    /* always works: the last word on end and errors */
	NULL,
};

const struct gi_method *gi_method_at(size_t index)
{
	const struct gi_method *const *m = methods;

	while (*m && index-- > 0)
		m++;
	return *m;
}

const char *gush_method_name(size_t index)
{
	const struct gi_method *m = gi_method_at(index);

	return m ? m->name : NULL;
}

static bool shares_pages(const struct gush_transfer *t)
{
	return (t->source.kind == GI_KIND_REGULAR || t->source.kind == GI_KIND_BLOCK) &&
	       (t->sink.kind == GI_KIND_PIPE || t->sink.kind == GI_KIND_SOCKET);
}

const char *gi_method_unfit(const struct gi_method *m, const struct gush_transfer *t)
{
	bool pipe = t->source.kind == GI_KIND_PIPE || t->sink.kind == GI_KIND_PIPE;

	if (!(m->sources & GI_KINDS(t->source.kind)))
		return "not from this kind of source";
	if (!(m->sinks & GI_KINDS(t->sink.kind)))
		return "not to this kind of sink";
	if (m->flags & GI_METHOD_NEEDS_PIPE && !pipe)
		return "neither end is a pipe";
	if (m->flags & GI_METHOD_NO_PIPE && pipe)
		return "an end is a pipe";
	if (m->flags & GI_METHOD_NO_APPEND && t->sink.append)
		return "the sink is in append mode";
	if (m->flags & GI_METHOD_NO_SINK_OFFSET && t->sink_at != GUSH_OWN_OFFSET)
		return "writes at the sink's own offset only";
	if (m->flags & GI_METHOD_SHARES_PAGES && t->options.flags & GUSH_STABLE && shares_pages(t))
		return "shares the file's pages, and a stable copy was asked for";
	/* The kernel would copy by memcpy from a page to itself: which bytes come of it is up to the CPU. */
	if (m->flags & GI_METHOD_SHARES_PAGES && t->overlap == GI_OVERLAP_SAME)
		return "shares the file's pages, and the sink is the same file";
	if (m->flags & GI_METHOD_CUTS_MESSAGES && t->source.messages)
		return "could cut a message short";
	if (t->options.flags & GUSH_NONBLOCK) {
		if (m->flags & GI_METHOD_SOCKET_WAITS && t->sink.kind == GI_KIND_SOCKET && !t->sink.nonblock)
			return "would wait for a socket that is not O_NONBLOCK";
	}
	return NULL;
}
