/* SPDX-License-Identifier: GPL-2.0 */
#ifdef CONFIG_LTO_CLANG
#define TEXT_MAIN .text .text.[0-9a-zA-Z_]*
#else
#define TEXT_MAIN .text
#endif
SECTIONS
{
	. = 0x1000000;
	.text : { *(TEXT_MAIN) }
	__ksymtab : { *(SORT(___ksymtab+*)) }
}
