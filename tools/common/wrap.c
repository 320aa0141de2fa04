/* SPDX-License-Identifier: MIT */
#include "wrap.h"

#include <stdbool.h>
#include <string.h>

void wrap_text(FILE *stream, const char *text, int at, int indent, int width)
{
	bool first = true;

	while (*text) {
		int n = (int)strcspn(text, " ");

		if (!first && at + 1 + n > width) {
			fprintf(stream, "\n%*s", indent, "");
			at = indent;
		} else if (!first) {
			fputc(' ', stream);
			at++;
		}
		fprintf(stream, "%.*s", n, text);
		at += n;
		text += n;
		text += strspn(text, " ");
		first = false;
	}
	fputc('\n', stream);
}
