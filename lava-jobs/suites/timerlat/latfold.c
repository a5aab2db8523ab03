// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * latfold: the text of a timerlat trace, folded on the device.
 *
 * A line of the tracer (kernel/trace/trace_osnoise.c) has the context irq,
 * thread or user-ret and a latency in ns. latency.txt has, a line a CPU and
 * context, exact counts and sums and a histogram with eight buckets an octave:
 *
 *   cpu context count sum_ns min_ns max_ns over_100us lower_ns:count ...
 *
 * and last "other N": lines that are neither a comment nor of that form.
 */
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#define MAX_CPU 8191
#define CONTEXTS 3
#define STEPS 8
#define BUCKETS (64 * STEPS)
/* Tails are counted beyond this, exactly. */
#define BOUND_NS 100000

static const char *const context_name[CONTEXTS] = { "irq", "thread", "user-ret" };

struct sums {
	uint64_t count, sum, min, max, beyond;
	uint32_t bucket[BUCKETS];
};

static struct sums *table[MAX_CPU + 1][CONTEXTS];

static void fail(int code, const char *format, ...)
{
	va_list args;

	fputs("latfold: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	exit(code);
}

/* Eight buckets from each power of two to the next; values below eight have one each. */
static unsigned int bucket_of(uint64_t ns)
{
	unsigned int octave = 0;

	if (ns < STEPS)
		return (unsigned int)ns;
	/* A shift by 64 is none: the last octave holds what has its highest bit set. */
	while (octave < 60 && ns >> (octave + 4))
		octave++;
	return STEPS * (octave + 1) + (unsigned int)(ns >> octave) - STEPS;
}

static uint64_t lower(unsigned int bucket)
{
	if (bucket < STEPS)
		return bucket;
	return (uint64_t)(STEPS + bucket % STEPS) << (bucket / STEPS - 1);
}

/* "...[003] dnh1. 15.143319: #1 context irq timer_latency 228541 ns"; the task's name is before it. */
static int read_line(const char *line, int *cpu, int *context, uint64_t *ns)
{
	char word[16], unit[4];
	const char *open;

	for (open = strchr(line, '['); open; open = strchr(open + 1, '[')) {
		unsigned long long value, id, seconds;
		int number, rest = 0;

		if (sscanf(open, "[%5d] %*s %llu.%*u: #%llu context %15s timer_latency %llu %3s %n",
			   &number, &seconds, &id, word, &value, unit, &rest) != 6)
			continue;
		if (number < 0 || number > MAX_CPU || strcmp(unit, "ns") || open[rest])
			continue;
		for (*context = 0; *context < CONTEXTS; ++*context)
			if (!strcmp(word, context_name[*context]))
				break;
		if (*context == CONTEXTS)
			continue;
		*cpu = number;
		*ns = value;
		return 1;
	}
	return 0;
}

static void add(int cpu, int context, uint64_t ns)
{
	struct sums *sums = table[cpu][context];

	if (!sums) {
		sums = calloc(1, sizeof(*sums));
		if (!sums)
			fail(1, "no memory");
		sums->min = UINT64_MAX;
		table[cpu][context] = sums;
	}
	sums->count++;
	/* The kernel prints a negative difference as a value near 2^64: no sum of such means a thing. */
	if (__builtin_add_overflow(sums->sum, ns, &sums->sum))
		fail(1, "the latencies of CPU %d add up to more than 2^64 ns", cpu);
	if (ns < sums->min)
		sums->min = ns;
	if (ns > sums->max)
		sums->max = ns;
	sums->beyond += ns > BOUND_NS;
	sums->bucket[bucket_of(ns)]++;
}

int main(int argc, char **argv)
{
	unsigned long long other = 0;
	const char *dir = NULL;
	char path[4096], *line = NULL;
	size_t size = 0;
	int c, cpu, context;
	ssize_t length;
	uint64_t ns;
	FILE *out;

	while ((c = getopt(argc, argv, "o:")) != -1) {
		if (c != 'o')
			fail(2, "usage: -o DIR <TRACE");
		dir = optarg;
	}
	if (optind != argc || !dir)
		fail(2, "usage: -o DIR <TRACE");
	if (snprintf(path, sizeof(path), "%s/latency.txt", dir) >= (int)sizeof(path))
		fail(2, "-o is too long");
	out = fopen(path, "w");
	if (!out)
		fail(1, "%s: %s", path, strerror(errno));
	while ((length = getline(&line, &size, stdin)) > 0) {
		if (line[0] == '#' || strspn(line, " \t\n") == (size_t)length)
			continue;
		if (read_line(line, &cpu, &context, &ns))
			add(cpu, context, ns);
		else
			other++;
	}
	if (ferror(stdin))
		fail(1, "cannot read the trace");
	fputs("# cpu context count sum_ns min_ns max_ns over_100us lower_ns:count ...\n", out);
	for (cpu = 0; cpu <= MAX_CPU; cpu++) {
		for (context = 0; context < CONTEXTS; context++) {
			const struct sums *sums = table[cpu][context];
			unsigned int i;

			if (!sums)
				continue;
			fprintf(out, "%d %s %llu %llu %llu %llu %llu", cpu, context_name[context],
				(unsigned long long)sums->count, (unsigned long long)sums->sum,
				(unsigned long long)sums->min, (unsigned long long)sums->max,
				(unsigned long long)sums->beyond);
			for (i = 0; i < BUCKETS; i++)
				if (sums->bucket[i])
					fprintf(out, " %llu:%u", (unsigned long long)lower(i),
						sums->bucket[i]);
			fputc('\n', out);
		}
	}
	fprintf(out, "other %llu\n", other);
	if (ferror(out) | fclose(out))
		fail(1, "cannot write latency.txt");
	return 0;
}
