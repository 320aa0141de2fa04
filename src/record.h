/* SPDX-License-Identifier: MIT */
/* The record of the ways a transfer tried. */
#ifndef GI_RECORD_H
#define GI_RECORD_H

#include <stddef.h>
#include <stdint.h>

#define GI_RECORD_ENTRIES 8 /* more than there are ways */

struct gi_record {
	struct {
		const char *method, *reason; /* static texts */
		uint64_t bytes;
		int outcome, error;
	} entries[GI_RECORD_ENTRIES];
	size_t count;
};

void gi_record_add(struct gi_record *r, const char *method, int outcome, int error, const char *reason);
/* To the last entry. */
void gi_record_bytes(struct gi_record *r, uint64_t bytes);
void gi_record_outcome(struct gi_record *r, int outcome, int error, const char *reason);

struct gush_report_entry;
/* For the public functions: as gush_report_entry. */
int gi_record_entry(const struct gi_record *r, size_t index, struct gush_report_entry *ret_entry);

#endif
