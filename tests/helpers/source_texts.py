# SPDX-License-Identifier: GPL-2.0-or-later
"""What a module says: its strings without those that stand alone, as docstrings do."""

import ast
from collections.abc import Iterator


def texts(tree: ast.AST) -> Iterator[str]:
    alone = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in alone:
            yield node.value
