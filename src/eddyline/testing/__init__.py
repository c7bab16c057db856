"""The oracle of the tests, and tools that compare the engine with it.

Text batches (:func:`batch`, :func:`pretty`), the from-scratch evaluator (:class:`Oracle`), the
checker of change tables (:func:`check_changes`), engines with options by name
(:func:`engine_with`) and scripts that drive an engine through data,
clock moves and restarts (:class:`eddyline.testing.script.Script`). Random cases for Hypothesis
are in :mod:`eddyline.testing.strategies`. Needs DuckDB (the ``test`` extra).
"""

from eddyline.testing.bags import difference, rows_of
from eddyline.testing.changes import WrongAnswer, check_changes, check_snapshots
from eddyline.testing.engines import engine_with
from eddyline.testing.keys import group_key
from eddyline.testing.oracle import Oracle, answer
from eddyline.testing.text import batch, format_time, parse_time, pretty

__all__ = [
    "Oracle",
    "WrongAnswer",
    "answer",
    "batch",
    "check_changes",
    "check_snapshots",
    "difference",
    "engine_with",
    "format_time",
    "group_key",
    "parse_time",
    "pretty",
    "rows_of",
]
