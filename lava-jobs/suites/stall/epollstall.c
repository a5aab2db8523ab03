// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * epollstall: a reader that runs out of its CFS bandwidth inside an epoll callback.
 *
 * R may use -q of every -p microseconds and writes an eventfd in a loop, so that most of
 * its time goes into ep_poll_callback(). W waits for that eventfd with epoll in a loop. A
 * timerfd in the same epoll fires from the soft timers of W's CPU, and so does the timer
 * that gives R new bandwidth. Where the lock of an epoll instance cannot lend W's priority
 * to R, a throttled R keeps W and those soft timers waiting, and with them what would
 * let R go on. Then nr_periods of R's group stands still for good.
 *
 * Soft timers run in a thread of priority FIFO 1, as kernels with ktimers/N threads have it;
 * where ksoftirqd/N expires them, that thread gets this priority here. A lock that lends
 * priorities lets R pass through it then, whatever its bandwidth.
 *
 * A thread of priority FIFO 50, whose own timer fires in hard interrupts, watches it. When
 * it stands still for -s milliseconds this is told to the kernel's log as
 *
 *   rtbisect-symptom: frozen nr_periods
 *
 * with the stacks of R, W and that thread in lines of their own ("rtbisect-stack: "), and the
 * machine is made to panic: nothing else gets on, and whoever waits at the console learns of
 * it at once. Else the numbers go to stdout after -t seconds.
 *
 * Build: gcc -O2 -static
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define STEP_MS		250
#define PRIORITY	50
#define TIMER_NS	500000
#define MOST_FRAMES	8

struct counts {
	uint64_t writes, waits;
};

static volatile struct counts *counts;
static const char *group;
static pid_t children[2];
/* The thread whose priority we raised, and what it had. */
static pid_t raised;
static int its_policy;
static struct sched_param its_priority;

/* Both gone: a control group with a task in it cannot be removed. One that cannot end is left. */
static void end_children(void)
{
	const struct timespec pause = { 0, 20000000 };

	for (int i = 0; i < 2; i++)
		if (children[i] > 0)
			kill(children[i], SIGKILL);
	for (int i = 0; i < 2; i++)
		for (int tries = 250; children[i] > 0 && tries > 0; tries--) {
			if (waitpid(children[i], NULL, WNOHANG))
				break;
			nanosleep(&pause, NULL);
		}
}

/* What comes after us finds the thread as we found it. */
static int lower_timers(void)
{
	int failed = raised && sched_setscheduler(raised, its_policy, &its_priority);

	raised = 0;
	return failed;
}

static void __attribute__((format(printf, 2, 3), noreturn))
fail(int code, const char *format, ...)
{
	va_list args;

	fputs("epollstall: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	end_children();
	lower_timers();
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

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		fail(1, "cannot run on CPU %d: %s", cpu, strerror(errno));
}

static int open_in_group(const char *name, int flags)
{
	char path[4096];
	int fd;

	if (snprintf(path, sizeof(path), "%s/%s", group, name) >= (int)sizeof(path))
		fail(2, "-g is too long");
	fd = open(path, flags | O_CLOEXEC);
	if (fd < 0)
		fail(1, "%s: %s", path, strerror(errno));
	return fd;
}

static void tell(const char *name, const char *text)
{
	int fd = open_in_group(name, O_WRONLY);

	if (write(fd, text, strlen(text)) < 0)
		fail(1, "%s/%s: %s", group, name, strerror(errno));
	close(fd);
}

static void __attribute__((noreturn)) reader(int event, int cpu)
{
	char self[16];
	uint64_t one = 1;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* The parent puts it back. */
	raised = 0;
	pin(cpu);
	snprintf(self, sizeof(self), "%d", (int)getpid());
	tell("cgroup.procs", self);
	for (;;) {
		if (write(event, &one, sizeof(one)) < 0 && errno != EAGAIN)
			_exit(1);
		counts->writes++;
	}
}

static void __attribute__((noreturn)) writer(int epoll, int timer, int cpu)
{
	struct epoll_event ready[8];
	uint64_t fired;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* The parent puts it back. */
	raised = 0;
	pin(cpu);
	for (;;) {
		if (epoll_wait(epoll, ready, 8, 1) < 0 && errno != EINTR)
			_exit(1);
		if (read(timer, &fired, sizeof(fired)) < 0 && errno != EAGAIN)
			_exit(1);
		counts->waits++;
	}
}

/* A line "key N" of cpu.stat. */
static long long stat_of(int fd, const char *key)
{
	char text[4096];
	const char *found;
	ssize_t n = pread(fd, text, sizeof(text) - 1, 0);

	if (n <= 0)
		fail(1, "cpu.stat: %s", n ? strerror(errno) : "empty");
	text[n] = '\0';
	found = strstr(text, key);
	if (!found)
		fail(1, "cpu.stat has no %s: no CFS bandwidth in this kernel", key);
	return strtoll(found + strlen(key), NULL, 10);
}

/* A thread of a CPU by its name, 0 for none. */
static pid_t thread_of(const char *kind, int cpu)
{
	char name[32], path[64], comm[64];
	FILE *file;

	snprintf(name, sizeof(name), "%s/%d\n", kind, cpu);
	/* Threads of a CPU are made when it starts: their numbers are small. */
	for (pid_t pid = 2; pid < 4096; pid++) {
		snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
		file = fopen(path, "r");
		if (!file)
			continue;
		if (!fgets(comm, sizeof(comm), file))
			comm[0] = '\0';
		fclose(file);
		if (!strcmp(comm, name))
			return pid;
	}
	return 0;
}

/* FIFO 1 for the thread that expires soft timers on a CPU. */
static void raise_timers(int cpu)
{
	const struct sched_param low = { .sched_priority = 1 };
	pid_t pid = thread_of("ksoftirqd", cpu);

	if (!pid)
		fail(1, "there is no ksoftirqd/%d", cpu);
	its_policy = sched_getscheduler(pid);
	if (its_policy < 0 || sched_getparam(pid, &its_priority) ||
	    sched_setscheduler(pid, SCHED_FIFO, &low))
		fail(1, "ksoftirqd/%d: %s", cpu, strerror(errno));
	raised = pid;
}

/*
 * Where a task stands in the kernel, as one line of the kernel's log: its functions, the innermost
 * first. Says nothing where the kernel does not tell (CONFIG_STACKTRACE).
 */
static void tell_stack(int log, const char *who, pid_t pid)
{
	char path[64], text[4096], line[640];
	char *frame, *rest = text;
	ssize_t size;
	int fd, used;

	if (!pid)
		return;
	snprintf(path, sizeof(path), "/proc/%d/stack", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	size = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (size <= 0)
		return;
	text[size] = '\0';
	used = snprintf(line, sizeof(line), "<0>rtbisect-stack: %s:", who);
	for (int i = 0; i < MOST_FRAMES && (frame = strsep(&rest, "\n")) && *frame; i++) {
		/* [<0>] name+0x12/0x34 */
		const char *name = strstr(frame, "] ");

		name = name ? name + 2 : frame;
		used += snprintf(line + used, sizeof(line) - used, "%s %.*s", i ? " <" : "",
				 (int)strcspn(name, "+"), name);
		if (used >= (int)sizeof(line) - 2)
			return;
	}
	line[used++] = '\n';
	/* Who reads the console does without. */
	if (write(log, line, used) < 0)
		return;
}

static void add(int epoll, int fd)
{
	struct epoll_event event = { .events = EPOLLIN };

	if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event))
		fail(1, "epoll: %s", strerror(errno));
}

int main(int argc, char **argv)
{
	static const char usage[] =
		"usage: -g CGROUP -r READER_CPU -w WRITER_CPU -q QUOTA_US -p PERIOD_US -s STILL_MS -t SECONDS";
	static const char said[] = "<0>rtbisect-symptom: frozen nr_periods\n";
	const struct itimerspec often = { { 0, TIMER_NS }, { 0, TIMER_NS } };
	const struct sched_param high = { .sched_priority = PRIORITY };
	long reader_cpu = -1, writer_cpu = -1, quota = 0, period = 0, still_ms = 0, seconds = 0;
	long still = 0;
	long long periods, before = -1;
	int event, timer, epoll, cpu_stat, log, trigger, c;
	char bandwidth[64];
	pid_t soft_timers;

	while ((c = getopt(argc, argv, "g:r:w:q:p:s:t:")) != -1) {
		switch (c) {
		case 'g': group = optarg; break;
		case 'r': reader_cpu = number(optarg, "-r", 0, CPU_SETSIZE - 1); break;
		case 'w': writer_cpu = number(optarg, "-w", 0, CPU_SETSIZE - 1); break;
		case 'q': quota = number(optarg, "-q", 1000, 1000000); break;
		case 'p': period = number(optarg, "-p", 1000, 1000000); break;
		case 's': still_ms = number(optarg, "-s", STEP_MS, 60000); break;
		case 't': seconds = number(optarg, "-t", 1, 3600); break;
		default: fail(2, "%s", usage);
		}
	}
	if (optind != argc || !group || reader_cpu < 0 || writer_cpu < 0 || !quota || !period ||
	    !still_ms || !seconds)
		fail(2, "%s", usage);

	counts = mmap(NULL, sizeof(*counts), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	event = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	epoll = epoll_create1(EPOLL_CLOEXEC);
	log = open("/dev/kmsg", O_WRONLY | O_CLOEXEC);
	trigger = open("/proc/sysrq-trigger", O_WRONLY | O_CLOEXEC);
	if (counts == MAP_FAILED || event < 0 || timer < 0 || epoll < 0 || log < 0 || trigger < 0)
		fail(1, "%s", strerror(errno));
	cpu_stat = open_in_group("cpu.stat", O_RDONLY);
	/* Both timers fire on the CPU that starts them: that of W. */
	pin((int)writer_cpu);
	snprintf(bandwidth, sizeof(bandwidth), "%ld %ld", quota, period);
	tell("cpu.max", bandwidth);
	raise_timers((int)writer_cpu);
	add(epoll, event);
	add(epoll, timer);

	if (timerfd_settime(timer, 0, &often, NULL))
		fail(1, "timerfd: %s", strerror(errno));
	children[0] = fork();
	if (!children[0])
		writer(epoll, timer, (int)writer_cpu);
	children[1] = fork();
	if (!children[1])
		reader(event, (int)reader_cpu);
	if (children[0] < 0 || children[1] < 0)
		fail(1, "fork: %s", strerror(errno));
	pin((int)reader_cpu);
	if (mlockall(MCL_CURRENT | MCL_FUTURE) || sched_setscheduler(0, SCHED_FIFO, &high))
		fail(1, "cannot watch: %s", strerror(errno));

	for (long ms = 0; ms < seconds * 1000; ms += STEP_MS) {
		struct timespec step = { 0, STEP_MS * 1000000L };

		nanosleep(&step, NULL);
		periods = stat_of(cpu_stat, "nr_periods ");
		still = periods == before ? still + STEP_MS : 0;
		before = periods;
		if (periods > 0 && still >= still_ms) {
			if (write(log, said, sizeof(said) - 1) < 0)
				return 1;
			tell_stack(log, "reader", children[1]);
			tell_stack(log, "writer", children[0]);
			/* With PREEMPT_RT there may be a thread for timers alone. */
			soft_timers = thread_of("ktimers", (int)writer_cpu);
			if (!soft_timers)
				soft_timers = thread_of("ksoftirqd", (int)writer_cpu);
			tell_stack(log, "soft timers", soft_timers);
			if (write(trigger, "c", 1) < 0)
				return 1;
		}
	}
	end_children();
	if (lower_timers())
		fail(1, "the priority of ksoftirqd/%ld stays raised: %s", writer_cpu, strerror(errno));
	printf("nr_periods %lld\nnr_throttled %lld\nwrites %llu\nwaits %llu\n",
	       stat_of(cpu_stat, "nr_periods "), stat_of(cpu_stat, "nr_throttled "),
	       (unsigned long long)counts->writes, (unsigned long long)counts->waits);
	return 0;
}
