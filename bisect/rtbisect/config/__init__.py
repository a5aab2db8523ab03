# SPDX-License-Identifier: GPL-2.0-or-later
"""What a person has written down: the site file, thresholds, trees and builds in KernelCI YAML.

Paths of files come in; typed values go out, or file and line of what is wrong. Nothing is started.
"""
