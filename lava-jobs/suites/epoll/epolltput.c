// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * epolltput: how many events a millisecond one epoll instance takes from several producers.
 *
 * -n threads, evenly on the CPUs of -c, write their own eventfd, -e events each; one thread
 * on CPU -k waits for all of them with epoll and reads them. A producer writes its next
 * event when its last one was read, so that every event goes through the wait queue and the
 * ready list of the instance, which its lock guards. The time runs from the first event until
 * the last one was read.
 *
 * Prints "threads N events E ns T". Build: gcc -O2 -static -pthread
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#define MOST_THREADS 256
#define MOST_EVENTS 64

struct producer {
	pthread_t thread;
	int fd;
	int cpu;
	long events;
	/* Events that the reader has taken. */
	_Atomic long taken;
};

static struct producer producers[MOST_THREADS];
static pthread_barrier_t begin;

static void fail(const char *what)
{
	fprintf(stderr, "epolltput: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		fail("cannot go to its CPU");
}

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static void *produce(void *argument)
{
	struct producer *self = argument;
	const uint64_t one = 1;

	pin(self->cpu);
	pthread_barrier_wait(&begin);
	for (long sent = 0; sent < self->events; sent++) {
		if (write(self->fd, &one, sizeof(one)) != sizeof(one))
			fail("cannot write an event");
		while (atomic_load_explicit(&self->taken, memory_order_acquire) <= sent)
			sched_yield();
	}
	return NULL;
}

static void consume(int epoll, long left)
{
	struct epoll_event got[MOST_EVENTS];

	while (left > 0) {
		int count = epoll_wait(epoll, got, MOST_EVENTS, -1);

		if (count < 0 && errno != EINTR)
			fail("cannot wait");
		for (int i = 0; i < count; i++) {
			struct producer *from = &producers[got[i].data.u32];
			uint64_t events;

			if (read(from->fd, &events, sizeof(events)) != sizeof(events))
				continue;
			left -= (long)events;
			atomic_fetch_add_explicit(&from->taken, (long)events, memory_order_release);
		}
	}
}

/* The CPUs of "2-4,6" into `cpus`; how many. */
static int parse(const char *list, int *cpus, int most)
{
	int count = 0;

	while (*list) {
		char *end;
		long first = strtol(list, &end, 10), last = first;

		if (end == list)
			return 0;
		if (*end == '-')
			last = strtol(end + 1, &end, 10);
		for (long cpu = first; cpu <= last && count < most; cpu++)
			cpus[count++] = (int)cpu;
		list = *end == ',' ? end + 1 : end;
		if (*end && *end != ',')
			return 0;
	}
	return count;
}

int main(int argc, char **argv)
{
	int cpus[MOST_THREADS], spread = 0, home = 0, threads = 0, option;
	long events = 0;
	int64_t start;
	int epoll;

	while ((option = getopt(argc, argv, "c:e:k:n:")) != -1) {
		if (option == 'c')
			spread = parse(optarg, cpus, MOST_THREADS);
		else if (option == 'e')
			events = atol(optarg);
		else if (option == 'k')
			home = atoi(optarg);
		else if (option == 'n')
			threads = atoi(optarg);
		else
			return 2;
	}
	if (spread < 1 || events < 1 || threads < 1 || threads > MOST_THREADS) {
		fprintf(stderr, "usage: epolltput -c CPUS -e EVENTS -k CPU -n THREADS\n");
		return 2;
	}
	epoll = epoll_create1(0);
	if (epoll < 0 || pthread_barrier_init(&begin, NULL, threads + 1))
		fail("cannot begin");
	for (int i = 0; i < threads; i++) {
		struct producer *each = &producers[i];
		struct epoll_event want = { .events = EPOLLIN, .data.u32 = i };

		each->cpu = cpus[i % spread];
		each->events = events;
		each->fd = eventfd(0, EFD_NONBLOCK);
		if (each->fd < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, each->fd, &want))
			fail("cannot add an eventfd");
		if (pthread_create(&each->thread, NULL, produce, each))
			fail("cannot make a thread");
	}
	pin(home);
	pthread_barrier_wait(&begin);
	start = now_ns();
	consume(epoll, events * threads);
	printf("threads %d events %ld ns %lld\n", threads, events * threads,
	       (long long)(now_ns() - start));
	return 0;
}
