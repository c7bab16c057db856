"""How large a statement may be: counts, so that the same text has the same outcome everywhere.

Parser, binder and optimizer walk trees by recursion. What is bounded here needs fewer frames than
:mod:`eddyline.sql.room` provides.
"""

from __future__ import annotations

from typing import Final

#: Parentheses, calls, CASEs, sub-queries and prefixes such as NOT within each other in one text.
MAX_NESTING: Final = 32
#: Syntax nodes above each other. AND, OR, ||, UNION and parentheses do not count, so this bounds
#: operators that take each other's results, as in ``a + b - c + ...``.
MAX_DEPTH: Final = 150
#: Queries that read each other, as sub-queries, views, WITH entries and set operations.
MAX_QUERIES: Final = 32
#: Streams, tables and queries that one FROM brings together.
MAX_INPUTS: Final = 64
#: Operators of a plan in which each stands as often as others read it.
MAX_PLAN: Final = 50_000
#: Operators, columns and constants from which one value is computed.
MAX_EXPRESSION: Final = 100_000
#: JOINs that wait for their ON. Without any the parser tries all ways to nest them.
MAX_OPEN_JOINS: Final = 10
#: Rows of a ROWS window.
MAX_ROWS: Final = 10**15
