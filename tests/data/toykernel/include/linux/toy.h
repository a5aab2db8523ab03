/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LINUX_TOY_H
#define LINUX_TOY_H
#define WARN() do { static const int line __attribute__((used, section("__bug_table"))) = __LINE__; } while (0)
int ep_poll(int events);
int synchronize_rcu(int readers);
extern const char linux_banner[];
#endif
