// SPDX-License-Identifier: GPL-2.0
#include <linux/toy.h>
#include <generated/utsrelease.h>

const char linux_banner[] = "Linux version " UTS_RELEASE " " BANNER;
