/* SPDX-License-Identifier: MIT */
/*
 * drain X|0 [MAX]: reads standard input to its end, or MAX bytes, and prints "N bytes, M bad": bad are those
 * that are not 'X' (or zero).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	static char buf[65536];
	unsigned long long left, seen = 0, bad = 0;
	char want;

	if (argc < 2 || (strcmp(argv[1], "X") != 0 && strcmp(argv[1], "0") != 0))
		return 2;
	want = argv[1][0] == 'X' ? 'X' : '\0';
	left = argc > 2 ? strtoull(argv[2], NULL, 10) : ~0ull;
	while (left > 0) {
		ssize_t n = read(STDIN_FILENO, buf, left < sizeof(buf) ? (size_t)left : sizeof(buf));

		if (n < 0) {
			perror("drain: read");
			return 1;
		}
		if (n == 0)
			break;
		for (ssize_t i = 0; i < n; i++)
			bad += buf[i] != want;
		seen += (unsigned long long)n;
		left -= (unsigned long long)n;
	}
	printf("%llu bytes, %llu bad\n", seen, bad);
	return fflush(stdout) == 0 ? 0 : 1;
}
