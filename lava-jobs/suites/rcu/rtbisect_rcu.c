// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * rtbisect_rcu: how long synchronize_rcu() takes.
 *
 * Loading the module makes the calls, from the CPU that insmod runs on; then
 * /proc/rtbisect_rcu has one duration a line, in nanoseconds, in call order.
 * It uses only interfaces that 5.14 has and 7.x still has.
 */
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/proc_fs.h>
#include <linux/rcupdate.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/stringify.h>

/* Also what a site file may ask for: rcu_calls in bisect/rtbisect/site_schema.py. */
#define MAX_CALLS 4096

static unsigned int calls = 100;
module_param(calls, uint, 0444);
MODULE_PARM_DESC(calls, "number of synchronize_rcu() calls, 1 to " __stringify(MAX_CALLS));

static u64 *durations;

static int durations_show(struct seq_file *m, void *unused)
{
	unsigned int i;

	for (i = 0; i < calls; i++)
		seq_printf(m, "%llu\n", durations[i]);
	return 0;
}

static int __init rtbisect_rcu_init(void)
{
	unsigned int i;

	if (calls < 1 || calls > MAX_CALLS)
		return -EINVAL;
	durations = kcalloc(calls, sizeof(*durations), GFP_KERNEL);
	if (!durations)
		return -ENOMEM;

	for (i = 0; i < calls; i++) {
		ktime_t start = ktime_get();

		synchronize_rcu();
		durations[i] = ktime_to_ns(ktime_sub(ktime_get(), start));
	}

	if (!proc_create_single("rtbisect_rcu", 0444, NULL, durations_show)) {
		kfree(durations);
		return -ENOMEM;
	}
	return 0;
}
module_init(rtbisect_rcu_init);

static void __exit rtbisect_rcu_exit(void)
{
	remove_proc_entry("rtbisect_rcu", NULL);
	kfree(durations);
}
module_exit(rtbisect_rcu_exit);

MODULE_DESCRIPTION("Durations of synchronize_rcu() calls");
MODULE_LICENSE("GPL");
