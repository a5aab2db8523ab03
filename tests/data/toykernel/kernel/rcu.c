// SPDX-License-Identifier: GPL-2.0
#include <linux/toy.h>

int synchronize_rcu(int readers)
{
	if (readers < 0)
		WARN();
	return readers * 6;
}
