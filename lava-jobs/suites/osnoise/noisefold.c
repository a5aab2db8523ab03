// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * noisefold: the text of an osnoise trace, folded on the device.
 *
 * The events irq_noise, softirq_noise, thread_noise and nmi_noise say how long
 * each interference took and what it was (kernel/trace/trace_osnoise.c). There
 * are thousands of them a window, so only sums leave the device:
 *
 *   trace.txt  the trace without them: header, samples, whatever else is in it
 *   noise.txt  a head, then a line a CPU and kind with the source "*", then one a
 *              CPU, kind and source: cpu kind count sum_ns median_ns max_ns source
 *
 * A sample is printed at its end. Events after the last sample of a CPU belong
 * to one that was never finished; they are left out, so that what is counted
 * here and in the samples is the same stretch of time.
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
#define MAX_ROWS 4096
#define SOURCE_BYTES 48

enum kind { IRQ, SOFTIRQ, THREAD, NMI, KINDS };

static const char *const kind_name[KINDS] = { "irq", "softirq", "thread", "nmi" };

struct event {
	int cpu;
	enum kind kind;
	uint64_t ns;
	char source[SOURCE_BYTES];
};

static struct event *events;
static size_t count, room;

static void fail(int code, const char *format, ...)
{
	va_list args;

	fputs("noisefold: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	exit(code);
}

/* Digits at *at, moved past them; 0 when there are none or too many. */
static int digits(const char **at, uint64_t *value)
{
	const char *begin = *at;

	*value = 0;
	while (isdigit((unsigned char)**at) && *at - begin < 18)
		*value = *value * 10 + (uint64_t)(*(*at)++ - '0');
	return *at > begin && !isdigit((unsigned char)**at);
}

/*
 * What follows "[003] d..h2.  6.705238: " in a line, and the CPU. The task's
 * name stands before it and may look like anything.
 */
static const char *body(const char *line, int *cpu)
{
	const char *open;

	for (open = strchr(line, '['); open; open = strchr(open + 1, '[')) {
		const char *at = open + 1;
		uint64_t number, ignored;

		if (!digits(&at, &number) || number > MAX_CPU || *at++ != ']')
			continue;
		at += strspn(at, " ");
		at += strcspn(at, " \n");
		at += strspn(at, " ");
		if (!digits(&at, &ignored) || *at++ != '.' || !digits(&at, &ignored) || *at++ != ':')
			continue;
		*cpu = (int)number;
		return at + strspn(at, " ");
	}
	return NULL;
}

/* The last " word NUMBER" of a text that ends at `end`; cuts it off there. */
static int cut_number(char *text, const char *word, uint64_t *value)
{
	char *found = NULL, *next;
	const char *at;

	for (next = strstr(text, word); next; next = strstr(next + 1, word))
		found = next;
	if (!found)
		return 0;
	at = found + strlen(word);
	if (!digits(&at, value))
		return 0;
	*found = '\0';
	return 1;
}

/* "local_timer:236 start 6.680800123 duration 3456 ns" */
static int read_event(const char *text, int cpu, enum kind kind, struct event *event)
{
	char copy[512];
	uint64_t start_s;
	char *colon;
	size_t i;

	/* Names are padded to eight characters. */
	text += strspn(text, " ");
	if (strlen(text) >= sizeof(copy))
		return 0;
	strcpy(copy, text);
	if (!cut_number(copy, " duration ", &event->ns))
		return 0;
	/* An NMI has no source: its text begins with the start. */
	if (!strncmp(copy, "start ", 6))
		copy[0] = '\0';
	else if (!cut_number(copy, " start ", &start_s))
		return 0;
	/* A thread's pid differs from boot to boot, its name does not. */
	colon = strrchr(copy, ':');
	if (kind == THREAD && colon)
		*colon = '\0';
	event->cpu = cpu;
	event->kind = kind;
	snprintf(event->source, sizeof(event->source), "%.40s", *copy ? copy : "-");
	for (i = 0; event->source[i]; i++)
		if (!isgraph((unsigned char)event->source[i]))
			event->source[i] = '_';
	return 1;
}

static int take(const char *text, int cpu)
{
	int kind;

	for (kind = 0; kind < KINDS; kind++) {
		char name[32];
		size_t length = (size_t)snprintf(name, sizeof(name), "%s_noise: ", kind_name[kind]);

		if (strncmp(text, name, length))
			continue;
		if (count == room) {
			room = room ? 2 * room : 4096;
			events = realloc(events, room * sizeof(*events));
			if (!events)
				fail(1, "no memory for %zu events", room);
		}
		if (!read_event(text + length, cpu, (enum kind)kind, &events[count]))
			return 0;
		count++;
		return 1;
	}
	return 0;
}

static int by_source(const void *one, const void *other)
{
	const struct event *a = one, *b = other;
	int order = a->cpu - b->cpu;

	if (!order)
		order = (int)a->kind - (int)b->kind;
	if (!order)
		order = strcmp(a->source, b->source);
	if (!order)
		order = a->ns < b->ns ? -1 : a->ns > b->ns;
	return order;
}

static int by_kind(const void *one, const void *other)
{
	const struct event *a = one, *b = other;
	int order = a->cpu - b->cpu;

	if (!order)
		order = (int)a->kind - (int)b->kind;
	if (!order)
		order = a->ns < b->ns ? -1 : a->ns > b->ns;
	return order;
}

/* One line for every run of events that are alike; they are sorted by duration in it. */
static void fold(FILE *out, int whole, size_t *rows)
{
	size_t begin, end;

	/* Of a trace without events there is no array. */
	if (count)
		qsort(events, count, sizeof(*events), whole ? by_kind : by_source);
	for (begin = 0; begin < count; begin = end) {
		const struct event *first = &events[begin];
		uint64_t sum = 0;

		for (end = begin; end < count; end++) {
			const struct event *next = &events[end];

			if (next->cpu != first->cpu || next->kind != first->kind ||
			    (!whole && strcmp(next->source, first->source)))
				break;
			if (__builtin_add_overflow(sum, next->ns, &sum))
				fail(1, "the durations of CPU %d add up to more than 2^64 ns", first->cpu);
		}
		if (++*rows > MAX_ROWS)
			fail(1, "more than %d sources", MAX_ROWS);
		fprintf(out, "%d %s %zu %llu %llu %llu %s\n", first->cpu, kind_name[first->kind],
			end - begin, (unsigned long long)sum,
			(unsigned long long)events[begin + (end - begin - 1) / 2].ns,
			(unsigned long long)events[end - 1].ns, whole ? "*" : first->source);
	}
}

static FILE *create(const char *dir, const char *name)
{
	char path[4096];
	FILE *f;

	if (snprintf(path, sizeof(path), "%s/%s", dir, name) >= (int)sizeof(path))
		fail(2, "-o is too long");
	f = fopen(path, "w");
	if (!f)
		fail(1, "%s: %s", path, strerror(errno));
	return f;
}

static void finish(FILE *f, const char *name)
{
	int bad = ferror(f);

	if (fclose(f) || bad)
		fail(1, "cannot write %s", name);
}

int main(int argc, char **argv)
{
	static size_t last[MAX_CPU + 1];
	const char *dir = NULL;
	char *line = NULL;
	size_t size = 0, rows = 0, kept = 0, i;
	ssize_t length;
	FILE *trace, *noise;
	int c;

	while ((c = getopt(argc, argv, "o:")) != -1) {
		if (c != 'o')
			fail(2, "usage: -o DIR <TRACE");
		dir = optarg;
	}
	if (optind != argc || !dir)
		fail(2, "usage: -o DIR <TRACE");
	trace = create(dir, "trace.txt");
	noise = create(dir, "noise.txt");

	while ((length = getline(&line, &size, stdin)) > 0) {
		const char *text;
		int cpu;

		text = line[0] == '#' ? NULL : body(line, &cpu);
		if (text && take(text, cpu))
			continue;
		/* Whole, whatever is in it: a line that is cut at a NUL would swallow the next one. */
		fwrite(line, 1, (size_t)length, trace);
		/* A sample begins with a number. */
		if (text && isdigit((unsigned char)*text))
			last[cpu] = count;
	}
	if (ferror(stdin))
		fail(1, "cannot read the trace");
	for (i = 0; i < count; i++)
		if (i < last[events[i].cpu])
			events[kept++] = events[i];
	count = kept;
	fputs("# cpu kind count sum_ns median_ns max_ns source\n", noise);
	fold(noise, 1, &rows);
	fold(noise, 0, &rows);
	finish(trace, "trace.txt");
	finish(noise, "noise.txt");
	return 0;
}
