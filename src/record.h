/* SPDX-License-Identifier: MIT */
/* The record of the ways a transfer tried. */
#ifndef GI_RECORD_H
#define GI_RECORD_H

#include <stddef.h>
#include <stdint.h>

#define GI_RECORD_ENTRIES 12 /* more than there are ways */

struct gi_record {
	struct {
		const char *method, *reason; /* static texts */
		uint64_t bytes;
		int outcome, error;
	} entries[GI_RECORD_ENTRIES];
	size_t count;
	size_t current; /* the one that bytes and outcomes go to */
};

void gi_record_add(struct gi_record *r, const char *method, int outcome, int error, const char *reason);
/*
 * Makes the last entry of that name that is in use the current one, or adds it. A way that has failed and is
 * tried again is another entry.
 */
void gi_record_use(struct gi_record *r, const char *method);
/* To the current entry: the last one added, or used. */
void gi_record_bytes(struct gi_record *r, uint64_t bytes);
void gi_record_outcome(struct gi_record *r, int outcome, int error, const char *reason);

struct gush_report_entry;
/* For the public functions: as gush_report_entry. */
int gi_record_entry(const struct gi_record *r, size_t index, struct gush_report_entry *ret_entry);

#endif
