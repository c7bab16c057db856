"""Limits of a statement's size. They are counts, so that a text has the same outcome everywhere.

Parser, binder and optimizer walk trees by recursion; within these limits they need fewer stack
frames than :mod:`eddyline.sql.stack` provides.
"""

from __future__ import annotations

from typing import Final

#: Nesting of parentheses, calls, CASEs, sub-queries and prefix operators such as NOT.
MAX_NESTING: Final = 32
#: Depth of the syntax tree, not counting AND, OR, ||, UNION and parentheses: it bounds chains
#: of operators, as in ``a + b - c + ...``.
MAX_DEPTH: Final = 150
#: Depth of queries that read each other: sub-queries, views, WITH entries, set operations.
MAX_QUERIES: Final = 32
#: Streams, tables and queries that one FROM joins.
MAX_INPUTS: Final = 64
#: Operators of a plan, where an operator counts once per reader.
MAX_PLAN: Final = 50_000
#: Operators, columns and constants in the expression of one value.
MAX_EXPRESSION: Final = 100_000
#: JOINs before their ON. The parser backtracks over all ways to nest them.
MAX_OPEN_JOINS: Final = 10
#: Rows of a ROWS window.
MAX_ROWS: Final = 10**15
