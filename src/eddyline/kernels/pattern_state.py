"""The arrays that the matcher of MATCH_RECOGNIZE works on, see ``row_patterns.py``."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from eddyline.kernels.options import bare_inlined

#: No row, no choice.
NONE = -1
#: Instructions: ``TAKE variable``, ``SPLIT preferred other``, ``JUMP to``, and the end.
TAKE, SPLIT, JUMP, MATCH = range(4)
#: Columns of a row: the next one of its partition, its time and number, the variable that it has
#: in the attempt, the variables that it can have (bits), where its values come from, whether it is
#: in a list, a bit per NULL, which attempt has set ``seen``; then words of splits that have been
#: tried behind it, and values.
NEXT, TS, NUMBER, LABEL, BITS, SOURCE, HELD, NULLS, SEEN_BY, SEEN = range(10)
#: Columns of a partition: the first and last row of its list, whether there is an attempt, its last
#: row, where in the program it is, its newest choice, its steps, whether the calendar has it, the
#: first instant whose rows are not of it; then registers.
START, TAIL, LIVE, CURRENT, PLACE, TOP, STEPS, WAITS, DUE, REGISTERS = range(10)
#: Columns of a choice: an older one, where in the program it is, the last row; then registers.
OLDER, C_PLACE, C_CURRENT, C_REGISTERS = range(4)
#: Counters: free choices (a list), choices ever used, matches and their rows, freed rows, rows that
#: were put into lists, free numbers of rows, and the end of these; where a run of the kernel that
#: lacked room goes on: whether it does, whether the row is in its list, the instant and the place
#: within it.
FREE, CHOICES, HEADS, ITEMS, FREED, TAKEN, FREE_ROWS, END_ROWS = range(8)
STOPPED, IS_PUT, NOW, NOW_SEQ = range(8, 12)
COUNTERS = 12
#: Columns of a match: instant, its place within the instant, number of the first row, where its
#: rows begin, how many they are, and a problem.
H_TS, H_SEQ, H_NUMBER, H_FIRST, H_ROWS, H_PROBLEM = range(6)
#: Problems of a match; those of conditions are OVERFLOW and ZERO_DIVISOR.
FINE = 0
NO_TARGET, TARGET_IS_FIRST, TOO_MANY_STEPS = 11, 12, 13
#: Other outcomes of a search.
SEARCH_WAITS, FAILED, FOUND, LACKS_ROOM = -4, -3, -2, -1
#: Ways to skip.
PAST_LAST, TO_NEXT, TO_FIRST, TO_LAST = range(4)
#: ``within`` without a limit.
NO_LIMIT = 1 << 62


class Program(NamedTuple):
    """A pattern.

    Attributes:
        begins: the variables that the first row can have, as bits.
        within: the time after its first row from which on rows are not part of a match, in us.
        skip: a way. target: the variables to skip to, as bits.
        words: of bits of splits per row; 0: splits are tried again, as conditions read the match.
        most_steps: of one attempt.
    """

    begins: int
    within: int
    skip: int
    target: int
    words: int
    most_steps: int


class Chunk(NamedTuple):
    """Rows in their order, or instants of partitions.

    Attributes:
        partition, ts: int64[n], of each row; or, if ``seq`` has no items, partitions that can get
            no more rows before and at an instant.
        seq: int64[n]. bits: int64[n], the variables whose conditions on the row alone hold.
        nulls: int64[n], a bit per value. values: int64[v, n], which other conditions read.
    """

    partition: np.ndarray
    ts: np.ndarray
    seq: np.ndarray
    bits: np.ndarray
    nulls: np.ndarray
    values: np.ndarray


class Memory(NamedTuple):
    """What the matcher changes.

    Attributes:
        rows, partitions, choices: int64, with the columns above.
        heads, items: matches, and (row, variable) of each of their rows.
        freed, taken: numbers of rows. free_rows: a stack. c: counters.
    """

    rows: np.ndarray
    partitions: np.ndarray
    choices: np.ndarray
    heads: np.ndarray
    items: np.ndarray
    freed: np.ndarray
    taken: np.ndarray
    free_rows: np.ndarray
    c: np.ndarray


@bare_inlined
def take_row(i: int, number: int, chunk: Chunk, first_value: int, memory: Memory) -> None:
    """Put a row of the chunk, the ``number``-th of all, at the end of its partition's list."""
    rows, c = memory.rows, memory.c
    if c[FREE_ROWS]:
        c[FREE_ROWS] -= 1
        r = memory.free_rows[c[FREE_ROWS]]
    else:
        r = c[END_ROWS]
        c[END_ROWS] += 1
    memory.taken[c[TAKEN]] = r
    c[TAKEN] += 1
    _put(r, chunk.partition[i], rows, memory.partitions)
    rows[r, TS], rows[r, NUMBER], rows[r, BITS] = chunk.ts[i], number, chunk.bits[i]
    rows[r, SOURCE], rows[r, NULLS] = i, chunk.nulls[i]
    for v in range(chunk.values.shape[0]):
        rows[r, first_value + v] = chunk.values[v, i]


@bare_inlined
def _put(r: int, p: int, rows: np.ndarray, partitions: np.ndarray) -> None:
    rows[r, NEXT], rows[r, HELD], rows[r, SEEN_BY] = NONE, 1, NONE
    if partitions[p, START] == NONE:
        partitions[p, START] = r
    else:
        rows[partitions[p, TAIL], NEXT] = r
    partitions[p, TAIL] = r
