// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * irqsnap: /proc/interrupts at the two ends of a window, and nothing between.
 *
 * The instrument must not be what it measures: no perf, no epoll, no BPF, no
 * process of its own, no output and no page fault inside the window. It sleeps
 * on a housekeeping CPU and writes its files when the window is over:
 *
 *   before.txt, after.txt   /proc/interrupts, raw
 *   window.txt              "key value" lines: the times, and the workload's
 *                           dose at both ends when -d names its dose file
 *
 * Build: gcc -O2 -static
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define MAX_CPUS	64
#define TEXT_BYTES	(1 << 20)	/* 64 CPUs and 200 lines need 200 KB */
#define NSEC		1000000000ULL
#define DOSE_MAGIC	0x3165736f64627472ULL

/* As perf_epoll_reader.c writes it. */
struct dose {
	uint64_t magic;
	uint64_t events;
	uint64_t wakeups;
	uint64_t lost;
	uint64_t pad[4];
	struct {
		uint64_t faults;
		uint64_t pad[7];
	} driver[MAX_CPUS];
};

struct snapshot {
	uint64_t ns;			/* when the reading began */
	uint64_t events, wakeups, lost, faults;
	size_t bytes;
	char text[TEXT_BYTES];
};

static struct snapshot before, after;

static void __attribute__((format(printf, 2, 3), noreturn))
fail(int code, const char *format, ...)
{
	va_list args;

	fputs("irqsnap: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	exit(code);
}

static long number(const char *text, const char *name, long low, long high)
{
	char *end;
	long value;

	errno = 0;
	value = strtol(text, &end, 10);
	if (errno || end == text || *end || value < low || value > high)
		fail(2, "%s must be a number from %ld to %ld, not '%s'", name, low, high, text);
	return value;
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * NSEC + (uint64_t)t.tv_nsec;
}

static void sleep_until(uint64_t ns)
{
	struct timespec t = { .tv_sec = (time_t)(ns / NSEC), .tv_nsec = (long)(ns % NSEC) };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
		;
}

static const struct dose *map_dose(const char *path)
{
	const struct dose *dose;
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || fstat(fd, &st))
		fail(1, "%s: %s", path, strerror(errno));
	if (st.st_size < (off_t)sizeof(*dose))
		fail(1, "%s: too short for a dose file", path);
	dose = mmap(NULL, sizeof(*dose), PROT_READ, MAP_SHARED, fd, 0);
	if (dose == MAP_FAILED)
		fail(1, "%s: %s", path, strerror(errno));
	if (dose->magic != DOSE_MAGIC)
		fail(1, "%s: not a dose file of this version", path);
	close(fd);
	return dose;
}

static void snap(struct snapshot *s, int fd, const struct dose *dose)
{
	s->ns = now_ns();
	s->bytes = 0;
	for (;;) {
		ssize_t n = pread(fd, s->text + s->bytes, TEXT_BYTES - s->bytes, (off_t)s->bytes);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			fail(1, "/proc/interrupts: %s", strerror(errno));
		if (n == 0)
			break;
		s->bytes += (size_t)n;
		if (s->bytes == TEXT_BYTES)
			fail(1, "/proc/interrupts has more than %d bytes", TEXT_BYTES);
	}
	if (dose) {
		int i;

		s->events = __atomic_load_n(&dose->events, __ATOMIC_RELAXED);
		s->wakeups = __atomic_load_n(&dose->wakeups, __ATOMIC_RELAXED);
		s->lost = __atomic_load_n(&dose->lost, __ATOMIC_RELAXED);
		s->faults = 0;
		for (i = 0; i < MAX_CPUS; i++)
			s->faults += __atomic_load_n(&dose->driver[i].faults, __ATOMIC_RELAXED);
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

static void write_text(const char *dir, const char *name, const struct snapshot *s)
{
	FILE *f = create(dir, name);

	fwrite(s->text, 1, s->bytes, f);
	finish(f, name);
}

static void write_pair(FILE *f, const char *key, uint64_t first, uint64_t second)
{
	fprintf(f, "%s_before %llu\n%s_after %llu\n", key, (unsigned long long)first,
		key, (unsigned long long)second);
}

static void write_window(const char *dir, int has_dose)
{
	FILE *f = create(dir, "window.txt");

	fprintf(f, "start_ns %llu\nend_ns %llu\n", (unsigned long long)before.ns,
		(unsigned long long)after.ns);
	if (has_dose) {
		write_pair(f, "events", before.events, after.events);
		write_pair(f, "wakeups", before.wakeups, after.wakeups);
		write_pair(f, "lost", before.lost, after.lost);
		write_pair(f, "faults", before.faults, after.faults);
	}
	finish(f, "window.txt");
}

int main(int argc, char **argv)
{
	static const char usage[] = "usage: -k CPU -t WINDOW_MS -o DIR [-w WARM_UP_MS] [-d DOSE_FILE]";
	const char *dir = NULL, *dose_path = NULL;
	const struct dose *dose = NULL;
	long cpu = -1, warm_ms = 0, window_ms = 0;
	uint64_t start;
	cpu_set_t set;
	int c, fd;

	while ((c = getopt(argc, argv, "k:w:t:o:d:")) != -1) {
		switch (c) {
		case 'k': cpu = number(optarg, "-k", 0, CPU_SETSIZE - 1); break;
		case 'w': warm_ms = number(optarg, "-w", 0, 600000); break;
		case 't': window_ms = number(optarg, "-t", 1, 3600000); break;
		case 'o': dir = optarg; break;
		case 'd': dose_path = optarg; break;
		default: fail(2, "%s", usage);
		}
	}
	if (optind != argc || cpu < 0 || !window_ms || !dir)
		fail(2, "%s", usage);

	CPU_ZERO(&set);
	CPU_SET((int)cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		fail(1, "cannot run on CPU %ld: %s", cpu, strerror(errno));
	fd = open("/proc/interrupts", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		fail(1, "/proc/interrupts: %s", strerror(errno));
	if (dose_path)
		dose = map_dose(dose_path);
	if (mlockall(MCL_CURRENT | MCL_FUTURE))
		fail(1, "mlockall: %s", strerror(errno));
	/* A first reading that nobody looks at, so that the real ones meet warm memory. */
	snap(&before, fd, dose);

	start = now_ns() + (uint64_t)warm_ms * 1000000;
	sleep_until(start);
	snap(&before, fd, dose);
	sleep_until(start + (uint64_t)window_ms * 1000000);
	snap(&after, fd, dose);

	write_text(dir, "before.txt", &before);
	write_text(dir, "after.txt", &after);
	write_window(dir, dose != NULL);
	return 0;
}
