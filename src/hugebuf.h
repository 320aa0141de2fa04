/* SPDX-License-Identifier: MIT */
/* Buffers of private anonymous memory, in huge pages or surely not in them. */
#ifndef GI_HUGEBUF_H
#define GI_HUGEBUF_H

#include <stddef.h>

enum {
	GI_HUGEBUF_HUGE = 1 << 0, /* aligned to a huge page and advised; without it 4 KiB pages, even where
				     THP is "always" */
	GI_HUGEBUF_LOCK = 1 << 1, /* mlock: counts against RLIMIT_MEMLOCK */
	GI_HUGEBUF_ANY = 1 << 2,  /* small pages, or whatever the kernel gives if it takes no advice */
};

struct gi_hugebuf {
	char *base;	     /* NULL: none */
	size_t bytes;	     /* asked for */
	size_t mapped_bytes; /* whole pages, or whole huge pages */
};

size_t gi_page_bytes(void);
size_t gi_huge_page_bytes(void); /* 0 where the kernel has no transparent huge pages */

/*
 * Maps and does not touch: the kernel gives the pages (and decides whether they are huge) at first write.
 * Returns 0 or -errno: -ENOMEM, -EOPNOTSUPP (no transparent huge pages in this kernel), -EPERM or -ENOMEM
 * from mlock past RLIMIT_MEMLOCK, -EOVERFLOW.
 */
int gi_hugebuf_map(size_t bytes, unsigned flags, struct gi_hugebuf *ret_buf);
void gi_hugebuf_unmap(struct gi_hugebuf *buf); /* takes one that was never mapped */

/*
 * Gives the pages of a part back and gets fresh ones at the next write: whoever else holds the old ones keeps
 * them. Locked ones too. 0 or -errno: then the pages are the old ones.
 */
int gi_hugebuf_renew(void *base, size_t bytes);

/* Whether all of it became huge pages, once touched: 1, 0, or -errno where this process may not ask. */
int gi_hugebuf_is_huge(const struct gi_hugebuf *buf);
/* The same for a part, by PAGEMAP_SCAN (since 6.7) on an open /proc/self/pagemap: 2 us for 2 MiB on 6.18. */
int gi_hugebuf_scan_huge(int pagemap, const void *base, size_t bytes);

#endif
