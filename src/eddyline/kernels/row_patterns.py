"""The matcher of MATCH_RECOGNIZE: a backtracking search over the rows of each partition.

A partition has a list of rows that may be part of a match, and one attempt at a time: from its
first row, the search goes through the program of the pattern, takes the preferred branch of each
split and remembers the other as a *choice*. At the end of the list it waits for the next row, or
until no further row can be within the pattern's time; a row that fits no variable leads back to
the last choice. So attempts are decided in the order of their first rows.

Rows, partitions and choices are rows of int64 arrays, linked by their numbers.
"""

from __future__ import annotations

import numpy as np

from eddyline.kernels.matched_rows import emit, skip_target
from eddyline.kernels.options import bare, bare_inlined, kernel
from eddyline.kernels.pattern_state import (
    BITS,
    C_CURRENT,
    C_PLACE,
    C_REGISTERS,
    CHOICES,
    CURRENT,
    DUE,
    FAILED,
    FINE,
    FOUND,
    FREE,
    FREED,
    HELD,
    IS_PUT,
    JUMP,
    LABEL,
    LACKS_ROOM,
    LIVE,
    MATCH,
    NEXT,
    NONE,
    NOW,
    NOW_SEQ,
    NULLS,
    NUMBER,
    OLDER,
    PLACE,
    REGISTERS,
    SEARCH_WAITS,
    SEEN,
    SEEN_BY,
    START,
    STEPS,
    STOPPED,
    TAKE,
    TOO_MANY_STEPS,
    TOP,
    TS,
    Chunk,
    Memory,
    Program,
    take_row,
)
from eddyline.kernels.run_conditions import (
    FALSE,
    OVERFLOW,
    TRUE,
    Conditions,
    Place,
    begin,
    satisfied,
    track,
)


@kernel
def go_on(
    first: int,
    chunk: Chunk,
    number: int,
    code: np.ndarray,
    program: Program,
    conditions: Conditions,
    memory: Memory,
) -> int:
    """Go on with the rows of a chunk, in their order, or let time pass for partitions.

    Args:
        first: the row to begin with. number: of row 0.
        code: int64[n, 4]: instructions, and the number of a split.

    Returns:
        n; or a row at which choices, heads or items lack room: call it again from there with more.
    """
    return _go_on(first, chunk, number, code, program, conditions, memory)


@bare
def _go_on(
    first: int,
    chunk: Chunk,
    number: int,
    code: np.ndarray,
    program: Program,
    conditions: Conditions,
    memory: Memory,
) -> int:
    partition, ts, bits = chunk.partition, chunk.ts, chunk.bits
    partitions, c = memory.partitions, memory.c
    has_rows, begins = chunk.seq.size > 0, program.begins
    for i in range(first, partition.size):
        p = partition[i]
        is_idle = partitions[p, START] == NONE
        if is_idle and not (has_rows and bits[i] & begins):
            continue
        is_put = not has_rows
        is_going_on = c[STOPPED] != 0
        if is_going_on:
            is_put = c[IS_PUT] != 0
        while True:
            if is_going_on:
                now, place = c[NOW], c[NOW_SEQ]
                is_going_on = False
                c[STOPPED] = 0
            elif partitions[p, LIVE] and partitions[p, DUE] <= ts[i]:
                now, place = partitions[p, DUE], -1
            elif is_put or (partitions[p, START] == NONE and not bits[i] & begins):
                break
            else:
                take_row(i, number + i, chunk, SEEN + program.words, memory)
                is_put, now, place = True, ts[i], chunk.seq[i]
            if _advance(p, now, place, code, program, conditions, memory):
                c[STOPPED], c[IS_PUT], c[NOW], c[NOW_SEQ] = 1, 1 if is_put else 0, now, place
                return i
    return partition.size


@bare_inlined
def _advance(
    p: int,
    now: int,
    seq: int,
    code: np.ndarray,
    program: Program,
    conditions: Conditions,
    memory: Memory,
) -> bool:
    """Go on with a partition at an instant, until it waits for a row; True: there is no room."""
    rows, partitions = memory.rows, memory.partitions
    while partitions[p, START] != NONE:
        start = partitions[p, START]
        if partitions[p, LIVE] or rows[start, BITS] & program.begins:
            if not partitions[p, LIVE]:
                _begin(p, rows[start, TS] + program.within, partitions)
                begin(conditions.trackers, partitions[p, REGISTERS:])
            outcome = _search(p, now, code, program, conditions, memory)
        else:
            outcome = FAILED
        if outcome == SEARCH_WAITS:
            break
        target, problem = rows[start, NEXT], FINE
        if outcome != FAILED and outcome != LACKS_ROOM:
            if outcome == FOUND:
                target, problem = skip_target(p, program.skip, program.target, memory)
            else:
                problem = outcome
            if not emit(p, now, seq, problem, memory):
                outcome = LACKS_ROOM
        if outcome == LACKS_ROOM:
            return True
        _begin_behind(p, target, memory)
    return False


@bare_inlined
def _begin(p: int, due: int, partitions: np.ndarray) -> None:
    partitions[p, LIVE] = 1
    partitions[p, DUE] = due
    partitions[p, CURRENT] = NONE
    partitions[p, PLACE] = 0
    partitions[p, TOP] = NONE
    partitions[p, STEPS] = 0


@bare_inlined
def _search(
    p: int, now: int, code: np.ndarray, program: Program, conditions: Conditions, memory: Memory
) -> int:
    """Go on with an attempt -> SEARCH_WAITS, FAILED, FOUND, LACKS_ROOM, or a problem."""
    rows, partitions, choices, c = memory.rows, memory.partitions, memory.choices, memory.c
    has_run = conditions.trackers.shape[0] > 0
    start, current = partitions[p, START], partitions[p, CURRENT]
    place, steps = partitions[p, PLACE], partitions[p, STEPS]
    outcome = FOUND
    while code[place, 0] != MATCH:
        if code[place, 0] == JUMP:
            place = code[place, 1]
            continue
        is_right = True
        if code[place, 0] == TAKE:
            row = start if current == NONE else rows[current, NEXT]
            if row == NONE and partitions[p, DUE] > now:
                outcome = SEARCH_WAITS
                break
            steps += 1
            if steps > program.most_steps:
                outcome = TOO_MANY_STEPS
                break
            fit = _takes(p, row, code[place, 1], has_run, program.words, conditions, memory)
            if fit > TRUE:
                outcome = fit
                break
            is_right = fit == TRUE
            if is_right:
                current = row
                place += 1
        else:
            if c[FREE] == NONE and c[CHOICES] == choices.shape[0]:
                outcome = LACKS_ROOM
                break
            if program.words and current != NONE:
                attempt = rows[start, NUMBER]
                is_right = not _is_seen(rows, current, attempt, code[place, 3], program.words)
            if is_right:
                _remember(p, code[place, 2], current, memory)
                place = code[place, 1]
        if is_right:
            continue
        top = partitions[p, TOP]
        if top == NONE:
            outcome = FAILED
            break
        place, current = choices[top, C_PLACE], choices[top, C_CURRENT]
        _take_back(p, top, memory)
    partitions[p, CURRENT], partitions[p, PLACE], partitions[p, STEPS] = current, place, steps
    return outcome


@bare_inlined
def _takes(
    p: int,
    row: int,
    variable: int,
    has_run: bool,
    words: int,
    conditions: Conditions,
    memory: Memory,
) -> int:
    """Let the attempt have a row as a variable -> TRUE, FALSE, or a problem."""
    rows, partitions = memory.rows, memory.partitions
    if row == NONE or rows[row, TS] >= partitions[p, DUE] or not rows[row, BITS] >> variable & 1:
        return FALSE
    if has_run:
        fit = _fits(row, variable, conditions, words, rows, partitions[p, REGISTERS:])
        if fit != TRUE:
            return fit
    rows[row, LABEL] = variable
    return TRUE


@bare
def _fits(
    row: int,
    variable: int,
    conditions: Conditions,
    words: int,
    rows: np.ndarray,
    registers: np.ndarray,
) -> int:
    """Whether the attempt can go on with a row as a variable; registers are of it, then."""
    scratch = conditions.scratch
    for r in range(registers.size):
        scratch[r] = registers[r]
    values = rows[row, SEEN + words :]
    if not track(conditions.trackers, variable, row, values, rows[row, NULLS], scratch):
        return OVERFLOW
    if conditions.starts[variable] < conditions.starts[variable + 1]:
        place = Place(row, scratch, rows, SEEN + words, NULLS)
        outcome = satisfied(conditions, variable, place)
        if outcome != TRUE:
            return outcome
    for r in range(registers.size):
        registers[r] = scratch[r]
    return TRUE


@bare_inlined
def _is_seen(rows: np.ndarray, row: int, attempt: int, split: int, words: int) -> bool:
    """Whether the attempt has been at a split behind a row before; from now on it has."""
    if rows[row, SEEN_BY] != attempt:
        rows[row, SEEN_BY] = attempt
        for w in range(words):
            rows[row, SEEN + w] = 0
    word, bit = SEEN + (split >> 6), np.int64(1) << np.int64(split & 63)
    is_seen = rows[row, word] & bit != 0
    rows[row, word] |= bit
    return is_seen


@bare_inlined
def _remember(p: int, place: int, current: int, memory: Memory) -> None:
    """Make a choice, for which there is room."""
    partitions, choices, c = memory.partitions, memory.choices, memory.c
    new = c[FREE]
    if new != NONE:
        c[FREE] = choices[new, OLDER]
    else:
        new = c[CHOICES]
        c[CHOICES] += 1
    choices[new, OLDER] = partitions[p, TOP]
    choices[new, C_PLACE], choices[new, C_CURRENT] = place, current
    for r in range(partitions.shape[1] - REGISTERS):
        choices[new, C_REGISTERS + r] = partitions[p, REGISTERS + r]
    partitions[p, TOP] = new


@bare_inlined
def _take_back(p: int, top: int, memory: Memory) -> None:
    """Give up the newest choice, and let registers be as they were."""
    partitions, choices, c = memory.partitions, memory.choices, memory.c
    partitions[p, TOP] = choices[top, OLDER]
    choices[top, OLDER] = c[FREE]
    c[FREE] = top
    for r in range(partitions.shape[1] - REGISTERS):
        partitions[p, REGISTERS + r] = choices[top, C_REGISTERS + r]


@bare_inlined
def _begin_behind(p: int, target: int, memory: Memory) -> None:
    """Let the next attempt begin at a row, and free those before it, and the choices."""
    rows, partitions, choices, c = memory.rows, memory.partitions, memory.choices, memory.c
    row = partitions[p, START]
    while row != target:
        rows[row, HELD] = 0
        memory.freed[c[FREED]] = row
        c[FREED] += 1
        row = rows[row, NEXT]
    if partitions[p, LIVE]:
        top = partitions[p, TOP]
        while top != NONE:
            older = choices[top, OLDER]
            choices[top, OLDER] = c[FREE]
            c[FREE] = top
            top = older
        partitions[p, TOP] = NONE
    partitions[p, START] = target
    partitions[p, LIVE] = 0
