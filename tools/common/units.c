/* SPDX-License-Identifier: MIT */
#include "units.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char prefixes[] = "KMGTPE";

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Digits only: strtoull alone would take a sign, leading blanks and the locale's idea of a number. */
static int parse_digits(const char **text, uint64_t *ret_number)
{
	char *end;
	unsigned long long number;

	if (!is_digit(**text))
		return -EINVAL;
	errno = 0;
	number = strtoull(*text, &end, 10);
	*text = end;
	*ret_number = number;
	return errno == ERANGE ? -ERANGE : 0;
}

static int parse_size_unit(const char *unit, uint64_t *ret_factor)
{
	const char *prefix;
	uint64_t base = 1024, factor = 1;

	if (*unit == '\0' || strcmp(unit, "B") == 0) {
		*ret_factor = 1;
		return 0;
	}
	prefix = strchr(prefixes, *unit == 'k' ? 'K' : *unit);
	if (!prefix)
		return -EINVAL;
	unit++;
	if (strcmp(unit, "B") == 0)
		base = 1000;
	else if (*unit && strcmp(unit, "iB") != 0)
		return -EINVAL;
	for (const char *p = prefixes; p <= prefix; p++)
		factor *= base;
	*ret_factor = factor;
	return 0;
}

int parse_size(const char *text, uint64_t *ret_bytes)
{
	uint64_t number, factor;
	int ret = parse_digits(&text, &number);

	if (ret == -EINVAL || parse_size_unit(text, &factor) < 0)
		return -EINVAL;
	if (ret < 0 || number > INT64_MAX / factor)
		return -ERANGE;
	*ret_bytes = number * factor;
	return 0;
}

int parse_rate(const char *text, uint64_t *ret_bytes_per_s)
{
	size_t n = strlen(text);
	char size[UNITS_TEXT];

	if (n >= 2 && strcmp(text + n - 2, "/s") == 0)
		n -= 2;
	if (n >= sizeof(size))
		return -EINVAL;
	memcpy(size, text, n);
	size[n] = '\0';
	return parse_size(size, ret_bytes_per_s);
}

int parse_count(const char *text, uint64_t max, uint64_t *ret_count)
{
	uint64_t number;
	int ret = parse_digits(&text, &number);

	if (ret == -EINVAL || *text)
		return -EINVAL;
	if (ret < 0 || number > max)
		return -ERANGE;
	*ret_count = number;
	return 0;
}

static const struct {
	const char *name;
	double ns;
} duration_units[] = {
	{ "", 1e9 },
	{ "s", 1e9 },
	{ "ms", 1e6 },
	{ "us", 1e3 },
	{ "ns", 1 },
	{ "m", 60e9 },
	{ "min", 60e9 },
	{ "h", 3600e9 },
};

int parse_duration(const char *text, int64_t *ret_ns)
{
	double number = 0, place = 1;
	bool digits = false;

	for (; is_digit(*text); text++, digits = true)
		number = number * 10 + (*text - '0');
	if (*text == '.')
		for (text++; is_digit(*text); text++, digits = true)
			number += (*text - '0') * (place /= 10);
	if (!digits)
		return -EINVAL;
	for (size_t i = 0; i < sizeof(duration_units) / sizeof(*duration_units); i++) {
		if (strcmp(text, duration_units[i].name) != 0)
			continue;
		number *= duration_units[i].ns;
		if (number > 9e18)
			return -ERANGE;
		*ret_ns = (int64_t)(number + 0.5);
		return 0;
	}
	return -EINVAL;
}

const char *format_size(uint64_t bytes, char text[UNITS_TEXT])
{
	static const char *const units[] = { "B", "KiB", "MiB", "GiB" };
	size_t unit = 0;

	while (unit < 3 && bytes > 0 && bytes % 1024 == 0) {
		bytes /= 1024;
		unit++;
	}
	snprintf(text, UNITS_TEXT, "%llu%s", (unsigned long long)bytes, units[unit]);
	return text;
}

const char *format_about(double bytes, char text[UNITS_TEXT])
{
	static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
	size_t unit = 0;

	while (unit < 6 && bytes >= 999.5) {
		bytes /= 1024;
		unit++;
	}
	snprintf(text, UNITS_TEXT, "%.*f %s",
		unit == 0 || bytes >= 99.95 ? 0
		: bytes >= 9.995	    ? 1
					    : 2,
		bytes, units[unit]);
	return text;
}

const char *format_duration(double seconds, char text[UNITS_TEXT])
{
	if (seconds < 0.9995)
		snprintf(text, UNITS_TEXT, "%.0f ms", seconds * 1e3);
	else if (seconds < 9.95)
		snprintf(text, UNITS_TEXT, "%.1f s", seconds);
	else if (seconds < 119.5)
		snprintf(text, UNITS_TEXT, "%.0f s", seconds);
	else
		snprintf(text, UNITS_TEXT, "%lld min %lld s", (long long)(seconds / 60),
			(long long)seconds % 60);
	return text;
}
