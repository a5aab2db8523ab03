// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * perf_epoll_reader: what a monitoring agent does to isolated CPUs.
 *
 * It opens software perf events on every watched CPU and reads all rings from
 * one thread, through one epoll set, on a housekeeping CPU. On PREEMPT_RT each
 * event wakes the reader from the irq_work thread of its own CPU, so the lock
 * inside epoll is fought for by the watched CPUs.
 *
 *   -m clock   PERF_COUNT_SW_CPU_CLOCK: -x pinned hrtimers a CPU, which need
 *              no process on that CPU.
 *   -m pf      PERF_COUNT_SW_PAGE_FAULTS, one busy child a CPU that faults at
 *              the same moments as its siblings.
 *   -b         what wakes the reader is the output of a BPF program that runs at these
 *              events, as of a tracer with a perf buffer, and not the event itself.
 *   -n         the control: the same children, but no perf event and no epoll.
 *
 * It publishes its dose in the file -d (struct dose below), prints "ready" when
 * everything is open, and nothing else until SIGTERM or -T ends it. It leads a
 * process group of its own: SIGTERM to the group ends busy children at once,
 * where a reader that they starve would take seconds to get to it.
 * Build: gcc -O2 -static -pthread
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MAX_CPUS	64
#define STOP_CHECK	64	/* wake-ups between looks for a signal that cannot get in */
#define DATA_PAGES	64	/* a power of two, as perf demands */
#define DOSE_MAGIC	0x3165736f64627472ULL	/* the bytes "rtbdose1" */

/*
 * The dose file. irqsnap.c has the same layout; change the magic with it.
 * One writer a field, aligned u64, so a reader needs no lock.
 */
struct dose {
	uint64_t magic;
	uint64_t events;		/* samples taken out of the rings */
	uint64_t wakeups;		/* epoll_wait() calls that brought something */
	uint64_t lost;			/* records that perf says it dropped */
	uint64_t pad[4];
	struct {
		uint64_t faults;	/* page faults that the child of a CPU made */
		uint64_t pad[7];	/* a cache line each */
	} driver[MAX_CPUS];
};

struct ring {
	int fd;
	struct perf_event_mmap_page *page;
};

enum mode { MODE_NONE, MODE_CLOCK, MODE_PF };

struct options {
	enum mode mode;
	int control;			/* -n */
	int bpf;			/* -b */
	int housekeeping;		/* -k */
	int cpus[MAX_CPUS];		/* -c */
	int ncpus;
	long period_us;			/* -p */
	int per_cpu;			/* -x */
	long seconds;			/* -T, 0 is "until SIGTERM" */
	const char *dose_path;		/* -d */
};

static struct dose *dose;
static volatile sig_atomic_t stop;
static pid_t children[MAX_CPUS];
static int nchildren;

static void end_children(void)
{
	while (nchildren > 0) {
		pid_t pid = children[--nchildren];

		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
}

/* One line on stderr; exit code 2 is for a wrong command line. */
#define fail(code, ...) do { \
	fprintf(stderr, "perf_epoll_reader: " __VA_ARGS__); \
	fputc('\n', stderr); \
	end_children(); \
	exit(code); \
} while (0)

static void __attribute__((noreturn)) usage(const char *wrong)
{
	fail(2, "%s; usage: -m clock|pf -k CPU -c CPUS [-p PERIOD_US] [-x EVENTS] "
		"[-b] [-n] [-d FILE] [-T SECONDS]", wrong);
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

/* "2-4,7" into o->cpus, in place of what was there: the last -c counts. */
static void parse_cpus(struct options *o, const char *text)
{
	const char *p = text;
	int first, last, used;

	o->ncpus = 0;
	do {
		if (sscanf(p, "%d%n", &first, &used) != 1)
			fail(2, "not a CPU list: '%s'", text);
		p += used;
		last = first;
		if (*p == '-' && sscanf(p, "-%d%n", &last, &used) == 1)
			p += used;
		if (first < 0 || last < first || last - first >= MAX_CPUS - o->ncpus)
			fail(2, "'%s' is empty, negative or more than %d CPUs", text, MAX_CPUS);
		while (first <= last)
			o->cpus[o->ncpus++] = first++;
	} while (*p++ == ',');
	if (p[-1] != '\0')
		fail(2, "not a CPU list: '%s'", text);
}

static void parse(struct options *o, int argc, char **argv)
{
	for (int c; (c = getopt(argc, argv, "m:k:c:p:x:bnd:T:")) != -1; ) {
		switch (c) {
		case 'm': o->mode = !strcmp(optarg, "clock") ? MODE_CLOCK :
				    !strcmp(optarg, "pf") ? MODE_PF : MODE_NONE; break;
		case 'k': o->housekeeping = (int)number(optarg, "-k", 0, CPU_SETSIZE - 1); break;
		case 'c': parse_cpus(o, optarg); break;
		case 'p': o->period_us = number(optarg, "-p", 10, 10000000); break;
		case 'x': o->per_cpu = (int)number(optarg, "-x", 1, 64); break;
		case 'b': o->bpf = 1; break;
		case 'n': o->control = 1; break;
		case 'd': o->dose_path = optarg; break;
		case 'T': o->seconds = number(optarg, "-T", 1, 86400); break;
		default: usage("unknown option");
		}
	}
	if (optind != argc || o->mode == MODE_NONE || o->housekeeping < 0 || !o->ncpus)
		usage("need -m, -k and -c, and no other arguments");
	if (o->control && (o->mode == MODE_CLOCK || o->bpf))
		usage("-n goes with -m pf, and not with -b");
}

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		fail(1, "cannot run on CPU %d: %s", cpu, strerror(errno));
}

static void map_dose(const char *path)
{
	int fd = path ? open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644)
		      : memfd_create("dose", MFD_CLOEXEC);

	if (fd < 0 || ftruncate(fd, sizeof(*dose)))
		fail(1, "%s: %s", path ? path : "dose", strerror(errno));
	dose = mmap(NULL, sizeof(*dose), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (dose == MAP_FAILED)
		fail(1, "cannot map the dose: %s", strerror(errno));
	close(fd);
	dose->magic = DOSE_MAGIC;
}

static void on_signal(int number)
{
	stop = number;
}

/* SIGTERM and SIGALRM are only let in while we wait: none is lost. */
static sigset_t catch_signals(void)
{
	struct sigaction action = { .sa_handler = on_signal };
	sigset_t ours, waiting;

	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGALRM, &action, NULL);
	sigemptyset(&ours);
	sigaddset(&ours, SIGTERM);
	sigaddset(&ours, SIGALRM);
	sigprocmask(SIG_BLOCK, &ours, &waiting);
	return waiting;
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* A busy child: one page fault at every multiple of the period, on one CPU. */
static void drive(int slot, int cpu, uint64_t period)
{
	uint64_t *faults = &dose->driver[slot].faults;
	volatile char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t due;

	if (page == MAP_FAILED)
		_exit(1);
	pin(cpu);
	for (due = (now_ns() / period + 1) * period; ; ) {
		uint64_t now = now_ns();

		if (now < due)
			continue;
		madvise((void *)page, 4096, MADV_DONTNEED);
		*page = 1;
		__atomic_store_n(faults, *faults + 1, __ATOMIC_RELAXED);
		/* Moments that were missed are not made up for. */
		due = (now / period + 1) * period;
	}
}

static void start_children(const struct options *o, const sigset_t *waiting)
{
	pid_t parent = getpid();
	int i;

	for (i = 0; i < o->ncpus; i++) {
		pid_t pid = fork();

		if (pid < 0)
			fail(1, "fork: %s", strerror(errno));
		if (pid == 0) {
			nchildren = 0;
			signal(SIGTERM, SIG_DFL);
			sigprocmask(SIG_SETMASK, waiting, NULL);
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			if (getppid() == parent)
				drive(i, o->cpus[i], (uint64_t)o->period_us * 1000);
			_exit(1);
		}
		children[nchildren++] = pid;
	}
	/* Each must be at work before anything counts as open. */
	for (i = 0; i < o->ncpus; )
		if (__atomic_load_n(&dose->driver[i].faults, __ATOMIC_RELAXED))
			i++;
		else if (waitpid(children[i], NULL, WNOHANG))
			fail(1, "the child for CPU %d ended", o->cpus[i]);
		else
			usleep(1000);
}

/*
 * Timers of the same period keep the phase that they happened to start with,
 * and whether CPUs collide would be drawn once a boot. So CPU i of the list
 * runs 0.7 % * i slower: in a second or two every phase meets every other.
 */
static int open_event(const struct options *o, int i)
{
	const int clock = o->mode == MODE_CLOCK, cpu = o->cpus[i];
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = clock ? PERF_COUNT_SW_CPU_CLOCK : PERF_COUNT_SW_PAGE_FAULTS,
		.sample_period = clock ? (uint64_t)o->period_us * (uint64_t)(1000 + 7 * i) : 1,
		.sample_type = PERF_SAMPLE_TIME,
		.wakeup_events = 1,
		.disabled = 1,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		fail(1, "perf_event_open on CPU %d: %s", cpu, strerror(errno));
	return fd;
}

/* The output of BPF programs on a CPU. */
static int open_output(const struct options *o, int i)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_BPF_OUTPUT,
		.sample_period = 1,
		.sample_type = PERF_SAMPLE_RAW,
		.wakeup_events = 1,
		.disabled = 1,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, -1, o->cpus[i], -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		fail(1, "no BPF output on CPU %d: %s", o->cpus[i], strerror(errno));
	return fd;
}

static struct ring map_ring(int fd, int cpu)
{
	size_t size = (DATA_PAGES + 1) * (size_t)sysconf(_SC_PAGESIZE);
	struct ring ring = { .fd = fd };

	ring.page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, ring.fd, 0);
	if (ring.page == MAP_FAILED)
		fail(1, "perf ring of CPU %d: %s", cpu, strerror(errno));
	return ring;
}

static int bpf(int command, union bpf_attr *attr)
{
	int fd = (int)syscall(SYS_bpf, command, attr, sizeof(*attr));

	if (fd < 0)
		fail(1, "bpf(%d): %s", command, strerror(errno));
	return fd;
}

#define INSN(c, d, s, o, i) { .code = (c), .dst_reg = (d), .src_reg = (s), .off = (o), .imm = (i) }

/* A program that puts 8 bytes into the output of the CPU that it runs on. */
static int load_program(int map)
{
	const struct bpf_insn insns[] = {
		INSN(BPF_ST | BPF_MEM | BPF_DW, BPF_REG_10, 0, -8, 0),
		/* bpf_perf_event_output(context, map, BPF_F_CURRENT_CPU, stack, 8) */
		INSN(BPF_LD | BPF_IMM | BPF_DW, BPF_REG_2, BPF_PSEUDO_MAP_FD, 0, map),
		INSN(0, 0, 0, 0, 0),
		INSN(BPF_ALU | BPF_MOV | BPF_K, BPF_REG_3, 0, 0, -1),
		INSN(BPF_ALU64 | BPF_MOV | BPF_X, BPF_REG_4, BPF_REG_10, 0, 0),
		INSN(BPF_ALU64 | BPF_ADD | BPF_K, BPF_REG_4, 0, 0, -8),
		INSN(BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_5, 0, 0, 8),
		INSN(BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_perf_event_output),
		/* 0: the event itself is not recorded. */
		INSN(BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_0, 0, 0, 0),
		INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0),
	};
	union bpf_attr attr = {
		.prog_type = BPF_PROG_TYPE_PERF_EVENT,
		.insns = (uint64_t)(uintptr_t)insns,
		.insn_cnt = sizeof(insns) / sizeof(insns[0]),
		.license = (uint64_t)(uintptr_t)"GPL",
	};

	return bpf(BPF_PROG_LOAD, &attr);
}

/* One output a CPU, for all events of it. Gives the program. */
static int open_outputs(const struct options *o, struct ring *rings)
{
	union bpf_attr attr = {
		.map_type = BPF_MAP_TYPE_PERF_EVENT_ARRAY,
		.key_size = sizeof(uint32_t),
		.value_size = sizeof(uint32_t),
		.max_entries = CPU_SETSIZE,
	};
	int map = bpf(BPF_MAP_CREATE, &attr), i;

	for (i = 0; i < o->ncpus; i++) {
		uint32_t cpu = (uint32_t)o->cpus[i], fd;
		union bpf_attr update = { .map_fd = (uint32_t)map };

		rings[i] = map_ring(open_output(o, i), o->cpus[i]);
		fd = (uint32_t)rings[i].fd;
		update.key = (uint64_t)(uintptr_t)&cpu;
		update.value = (uint64_t)(uintptr_t)&fd;
		bpf(BPF_MAP_UPDATE_ELEM, &update);
		if (ioctl(rings[i].fd, PERF_EVENT_IOC_ENABLE, 0))
			fail(1, "cannot enable the output of CPU %u: %s", cpu, strerror(errno));
	}
	return load_program(map);
}

/*
 * Event x of CPU i is number x * ncpus + i of `events`. Rings are those of the events, or with -b
 * one a CPU.
 */
static void open_rings(const struct options *o, int *events, int count, struct ring *rings, int epoll)
{
	const int program = o->bpf ? open_outputs(o, rings) : -1;
	const int nrings = o->bpf ? o->ncpus : count;
	int n;

	for (n = 0; n < count; n++) {
		events[n] = open_event(o, n % o->ncpus);
		if (!o->bpf)
			rings[n] = map_ring(events[n], o->cpus[n % o->ncpus]);
		else if (ioctl(events[n], PERF_EVENT_IOC_SET_BPF, program))
			fail(1, "no BPF program on CPU %d: %s", o->cpus[n % o->ncpus], strerror(errno));
	}
	for (n = 0; n < nrings; n++) {
		struct epoll_event watch = { .events = EPOLLIN, .data.u32 = (uint32_t)n };

		if (epoll_ctl(epoll, EPOLL_CTL_ADD, rings[n].fd, &watch))
			fail(1, "epoll_ctl: %s", strerror(errno));
	}
}

/* The events of a CPU are spread evenly over the period. */
static void enable(const struct options *o, const int *events, int count)
{
	uint64_t start = now_ns(), step = (uint64_t)(o->period_us * 1000 * o->ncpus / count);
	int n;

	for (n = 0; n < count; n++) {
		while (now_ns() < start + step * (uint64_t)(n / o->ncpus))
			;
		if (ioctl(events[n], PERF_EVENT_IOC_ENABLE, 0))
			fail(1, "cannot enable CPU %d: %s", o->cpus[n % o->ncpus], strerror(errno));
	}
}

/* Take everything out of a ring. Records are 8-byte aligned, so none of the words we read wraps. */
static void drain(struct ring *ring)
{
	const uint64_t mask = DATA_PAGES * (uint64_t)sysconf(_SC_PAGESIZE) - 1;
	const char *data = (char *)ring->page + sysconf(_SC_PAGESIZE);
	uint64_t head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
	uint64_t tail = ring->page->data_tail, events = 0, lost = 0;

	while (tail < head) {
		const struct perf_event_header *header = (const void *)(data + (tail & mask));

		if (header->type == PERF_RECORD_SAMPLE)
			events++;
		else if (header->type == PERF_RECORD_LOST)	/* header, id, lost */
			lost += *(const uint64_t *)(data + ((tail + 16) & mask));
		tail += header->size;
	}
	__atomic_store_n(&ring->page->data_tail, tail, __ATOMIC_RELEASE);
	__atomic_store_n(&dose->events, dose->events + events, __ATOMIC_RELAXED);
	__atomic_store_n(&dose->lost, dose->lost + lost, __ATOMIC_RELAXED);
}

/* SIGTERM or SIGALRM has come and is still blocked. */
static int told_to_stop(void)
{
	sigset_t pending;

	sigpending(&pending);
	return sigismember(&pending, SIGTERM) == 1 || sigismember(&pending, SIGALRM) == 1;
}

static void read_events(const struct options *o, const sigset_t *waiting)
{
	struct epoll_event got[64];
	int epoll = epoll_create1(EPOLL_CLOEXEC);
	int count = o->ncpus * (o->mode == MODE_CLOCK ? o->per_cpu : 1);
	struct ring *rings = calloc((size_t)count, sizeof(*rings));
	int *events = calloc((size_t)count, sizeof(*events));

	if (!rings || !events)
		fail(1, "no memory");
	open_rings(o, events, count, rings, epoll);
	if (o->mode == MODE_PF)
		start_children(o, waiting);	/* after the opening, which busy CPUs make slow */
	enable(o, events, count);
	puts("ready");
	while (!stop) {
		int i, n = epoll_pwait(epoll, got, 64, -1, waiting);

		if (n < 0)
			continue;	/* a signal */
		__atomic_store_n(&dose->wakeups, dose->wakeups + 1, __ATOMIC_RELAXED);
		for (i = 0; i < n; i++)
			drain(&rings[got[i].data.u32]);
		/* No signal gets in while events are always ready: epoll hands those out first. */
		if (dose->wakeups % STOP_CHECK == 0 && told_to_stop())
			break;
	}
}

int main(int argc, char **argv)
{
	struct options o = { .housekeeping = -1, .period_us = 20000, .per_cpu = 8 };
	sigset_t waiting;

	parse(&o, argc, argv);
	setpgid(0, 0);
	pin(o.housekeeping);
	map_dose(o.dose_path);
	waiting = catch_signals();
	setvbuf(stdout, NULL, _IOLBF, 0);
	alarm((unsigned int)o.seconds);		/* 0 sets none */
	if (o.control) {
		start_children(&o, &waiting);
		puts("ready");
		while (!stop)
			sigsuspend(&waiting);
	} else {
		read_events(&o, &waiting);
	}
	end_children();
	return 0;
}
