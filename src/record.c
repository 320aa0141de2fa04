/* SPDX-License-Identifier: MIT */
#include "record.h"

#include "gush.h"
#include "transfer.h"

#include <errno.h>
#include <string.h>

void gi_record_add(struct gi_record *r, const char *method, int outcome, int error, const char *reason)
{
	if (r->count == GI_RECORD_ENTRIES)
		return;
	r->entries[r->count].method = method;
	r->entries[r->count].bytes = 0;
	r->current = r->count++;
	gi_record_outcome(r, outcome, error, reason);
}

void gi_record_use(struct gi_record *r, const char *method)
{
	for (size_t i = r->count; i-- > 0;) {
		if (r->entries[i].outcome == GUSH_TRIED_USED && strcmp(r->entries[i].method, method) == 0) {
			r->current = i;
			return;
		}
	}
	gi_record_add(r, method, GUSH_TRIED_USED, 0, NULL);
}

void gi_record_bytes(struct gi_record *r, uint64_t bytes)
{
	if (r->count > 0)
		r->entries[r->current].bytes += bytes;
}

void gi_record_outcome(struct gi_record *r, int outcome, int error, const char *reason)
{
	if (r->count == 0)
		return;
	r->entries[r->current].outcome = outcome;
	r->entries[r->current].error = error;
	r->entries[r->current].reason = reason;
}

int gi_record_entry(const struct gi_record *r, size_t index, struct gush_report_entry *ret_entry)
{
	struct gush_report_entry entry = { 0 };

	if (ret_entry->size < offsetof(struct gush_report_entry, error) + sizeof(entry.error))
		return -EINVAL;
	if (index >= r->count)
		return -ENOENT;
	entry.size = ret_entry->size;
	entry.method = r->entries[index].method;
	entry.reason = r->entries[index].reason;
	entry.bytes = r->entries[index].bytes;
	entry.outcome = r->entries[index].outcome;
	entry.error = r->entries[index].error;
	*ret_entry = entry;
	return 0;
}

int gush_report_entry(const struct gush_transfer *transfer, size_t index, struct gush_report_entry *ret_entry)
{
	return gi_record_entry(&transfer->record, index, ret_entry);
}
