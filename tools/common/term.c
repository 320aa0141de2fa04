/* SPDX-License-Identifier: MIT */
#include "term.h"

#include "units.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

int term_columns(int fd)
{
	const char *text = getenv("COLUMNS");
	struct winsize size;
	uint64_t columns = 0;

	if (text)
		parse_count(text, UINT64_MAX, &columns);
	if (columns == 0 && ioctl(fd, TIOCGWINSZ, &size) == 0)
		columns = size.ws_col;
	if (columns == 0)
		return 80;
	return columns < 20 ? 20 : columns > 500 ? 500 : (int)columns;
}

bool term_colour(int fd)
{
	const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");

	if (no_color && *no_color)
		return false;
	return isatty(fd) && term && strcmp(term, "dumb") != 0;
}

bool term_utf8(void)
{
	static const char *const names[] = { "LC_ALL", "LC_CTYPE", "LANG" };

	for (size_t i = 0; i < 3; i++) {
		const char *locale = getenv(names[i]);
		const char *charset;

		if (!locale || !*locale)
			continue;
		charset = strchr(locale, '.');
		return charset &&
		       (strncasecmp(charset, ".utf-8", 6) == 0 || strncasecmp(charset, ".utf8", 5) == 0);
	}
	return false;
}
