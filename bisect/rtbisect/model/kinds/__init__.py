# SPDX-License-Identifier: GPL-2.0-or-later
"""What can be found, a module for each area; its sentences stand in `words/`, in the module of the
same name.

A kind comes in with the code that finds it, and stays for good: what is kept has its word. No
sentence goes out: a kind says what was found, not how that is told.
"""
