// SPDX-License-Identifier: GPL-2.0
#include <linux/toy.h>

int nr_cpus = CONFIG_NR_CPUS;
int boot_count;

int start_kernel(void)
{
	boot_count += nr_cpus + linux_banner[0];
#ifdef CONFIG_EPOLL
	boot_count += ep_poll(boot_count);
#endif
	return synchronize_rcu(boot_count);
}
