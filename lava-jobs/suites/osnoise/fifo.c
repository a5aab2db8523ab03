// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fifo PRIORITY PREFIX: give every task whose name begins with PREFIX the policy SCHED_FIFO.
 *
 * busybox may have no chrt. Exit code 1 when there is no such task, or one refuses.
 *
 * Build: gcc -O2 -static
 */
#include <dirent.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int begins(int pid, const char *prefix)
{
	char path[64], name[64];
	FILE *comm;
	int found;

	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	comm = fopen(path, "r");
	if (!comm)
		return 0;
	found = fgets(name, sizeof(name), comm) && !strncmp(name, prefix, strlen(prefix));
	fclose(comm);
	return found;
}

int main(int argc, char **argv)
{
	struct sched_param priority;
	struct dirent *entry;
	int found = 0;
	DIR *proc;

	if (argc != 3)
		return 2;
	priority.sched_priority = atoi(argv[1]);
	proc = opendir("/proc");
	if (!proc)
		return 1;
	while ((entry = readdir(proc))) {
		int pid = atoi(entry->d_name);

		if (pid <= 0 || !begins(pid, argv[2]))
			continue;
		if (sched_setscheduler(pid, SCHED_FIFO, &priority)) {
			perror(entry->d_name);
			return 1;
		}
		found++;
	}
	closedir(proc);
	return !found;
}
