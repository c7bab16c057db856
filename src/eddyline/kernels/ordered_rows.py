"""What ``kernels/ordered_partitions.py`` computes from: functions, events, the state of rows and of
partitions.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

#: Kinds of events: a row comes, is taken back, expires.
IN, OUT, EXPIRED = 0, 1, 2
#: Kinds of functions. BEFORE and BEHIND: the argument of the row that many places away; FROM: of
#: the row that many places before, or the first; NTH: of the row of a number, once it is there.
ROW_NUMBER, RANK, DENSE_RANK, NTILE, ROWS, BEFORE, BEHIND, FROM, FIRST, LAST, NTH = range(11)
#: The first kind whose values are numbers of arguments.
FIRST_OF_ARGUMENTS = BEFORE
#: No row, and no value.
NOTHING = -1
NOWHERE = np.iinfo(np.int64).max


class Functions(NamedTuple):
    """The functions, and which rows are shown.

    Attributes:
        kind: int64[f]. argument: int64[f], number of the argument. offset: int64[f], see the kinds.
        limit: the highest rank that is shown, which is the first function; 0: all rows are.
        silent: whether that rank is not reported.
        behind, before: how many rows behind a change, and before it, have other values.
        forgets: whether rows that are not shown leave: no row before them ever does.
    """

    kind: np.ndarray
    argument: np.ndarray
    offset: np.ndarray
    limit: int
    silent: bool
    behind: int
    before: int
    forgets: bool


def no_functions() -> Functions:
    """Where rows have values of another kind."""
    none = np.zeros(0, np.int64)
    return Functions(none, none, none, 0, False, 0, 0, False)


class Events(NamedTuple):
    """Events in (ts, seq) order, all of length n.

    Attributes:
        kind: int64. row: int64, number of the row. instants: int64[2, n], ts and seq.
        slot, key, peer: int64, of IN: its partition, and numbers of its sort key and of the part of
            it that ties are about.
        arguments: int64[a, n], numbers of values, NOTHING for NULL.
    """

    kind: np.ndarray
    row: np.ndarray
    instants: np.ndarray
    slot: np.ndarray
    key: np.ndarray
    peer: np.ndarray
    arguments: np.ndarray


#: State by number of a row: see Events, ``slot`` is NOTHING when it has left; ``prefix`` is the
#: order key of its sort key; the number of the change that shows it; whether it is shown; whether
#: it waits to be looked at.
ROW = np.dtype(
    [
        *(
            (name, np.int64)
            for name in ("slot", "last_slot", "prefix", "key", "peer", "exp", "version")
        ),
        ("shown", np.bool_),
        ("marked", np.bool_),
    ],
    align=True,
)
#: State by partition: how many rows are shown, and the first place that has to be looked at
#: (``NOWHERE`` between instants).
PARTITION = np.dtype([("shown", np.int64), ("since", np.int64)], align=True)


class State(NamedTuple):
    """State: ROW[rows]; int64[rows, a] arguments and int64[rows, f] values; occurrences, links and
    roots of treaps; PARTITION[slots].

    ``changes`` is how many changes there have been. ``order_key``, ``row``, ``base``, ``offsets``,
    ``origin``, ``data``: of the keys, by number, as of ``precedes``.
    """

    rows: np.ndarray
    arguments: np.ndarray
    values: np.ndarray
    occurrences: np.ndarray
    links: np.ndarray
    partitions: np.ndarray
    root: np.ndarray
    changes: int
    order_key: np.ndarray
    row: np.ndarray
    base: int
    offsets: np.ndarray
    origin: int
    data: np.ndarray


#: A row that is shown or no more, the event that caused it, and the number of the change that shows
#: it.
CHANGE = np.dtype(
    [("row", np.int64), ("event", np.int64), ("version", np.int64), ("sign", np.int8)], align=True
)


class Changes(NamedTuple):
    """Room for changes, CHANGE[n], with their values, int64[n, f]."""

    change: np.ndarray
    values: np.ndarray
