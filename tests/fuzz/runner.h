/* SPDX-License-Identifier: MIT */
/* Runs a fuzzed function without a fuzzer: PROGRAM [SECONDS [SEED]]. Included once, behind that function. */
#ifndef RUNNER_H
#define RUNNER_H

static inline uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static inline void one_seed(uint64_t which)
{
	uint8_t data[1200];
	uint64_t state = which * 0x9e3779b97f4a7c15u + 1;

	seed = which;
	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(next_random(&state) >> 24);
	LLVMFuzzerTestOneInput(data, 100 + next_random(&state) % (sizeof(data) - 100));
}

static int seconds = 3;

static inline void random_operations(void)
{
	time_t end = time(NULL) + seconds;
	uint64_t runs = 0, first = (uint64_t)time(NULL) * 1000000;

	printf("  seeds from %llu\n", (unsigned long long)first);
	fflush(stdout);
	for (; time(NULL) < end; runs++)
		one_seed(first + runs);
	CHECK(runs > 0 && operations > runs);
	printf("  %llu runs, %llu operations\n", (unsigned long long)runs, (unsigned long long)operations);
}

int main(int argc, char **argv)
{
	if (argc > 2) {
		one_seed(strtoull(argv[2], NULL, 10));
		fputs(op_log, stdout);
		return 0;
	}
	if (argc > 1)
		seconds = atoi(argv[1]);
	TEST(random_operations);
	return test_end();
}

#endif
