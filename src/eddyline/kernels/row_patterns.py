"""The matcher of MATCH_RECOGNIZE: a backtracking search over the rows of each partition.

A partition has a list of rows that may be part of a match, and one attempt at a time: from its
first row, the search goes through the program of the pattern, takes the preferred branch of each
split and remembers the other as a *choice*. At the end of the list it waits for the next row, or
until no further row can be within the pattern's time; a row that fits no variable leads back to
the last choice. So attempts are decided in the order of their first rows.

Rows, partitions and choices are rows of int64 arrays, linked by their numbers.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from eddyline.kernels import run_conditions
from eddyline.kernels.options import inlined, kernel
from eddyline.kernels.run_conditions import TRUE, Conditions

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
_WAITS, _FAILED, _FOUND, _LACKS_ROOM = -4, -3, -2, -1
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


@kernel
def go_on(
    first: int,
    partition: np.ndarray,
    ts: np.ndarray,
    seq: np.ndarray,
    bits: np.ndarray,
    nulls: np.ndarray,
    values: np.ndarray,
    number: int,
    code: np.ndarray,
    program: Program,
    conditions: Conditions,
    rows: np.ndarray,
    partitions: np.ndarray,
    choices: np.ndarray,
    heads: np.ndarray,
    items: np.ndarray,
    freed: np.ndarray,
    taken: np.ndarray,
    free_rows: np.ndarray,
    c: np.ndarray,
) -> int:
    """Go on with the rows of a chunk, in their order, or let time pass for partitions.

    Args:
        first: the row to begin with.
        partition, ts: int64[n]: of each row; or, if ``seq`` has no items, which can get no more
            rows before and at an instant.
        seq: int64[n]. bits: int64[n], the variables whose conditions on the row alone hold.
        values: int64[v, n], which other conditions read; nulls: int64[n], a bit per value.
        number: of row 0. code: int64[n, 4]: instructions, and the number of a split.
        rows, partitions, choices: see above. heads, items: matches, and (row, variable) of each of
            their rows. freed, taken: numbers of rows. free_rows: a stack. c: counters.

    Returns:
        n; or a row at which choices, heads or items lack room: call it again from there with more.
    """
    has_rows, has_run = seq.size > 0, conditions.trackers.shape[0] > 0
    begins, first_value = program.begins, SEEN + program.words
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
                r = _new_row(free_rows, c)
                taken[c[TAKEN]] = r
                c[TAKEN] += 1
                _put(r, p, rows, partitions)
                rows[r, TS], rows[r, NUMBER], rows[r, BITS] = ts[i], number + i, bits[i]
                rows[r, SOURCE], rows[r, NULLS] = i, nulls[i]
                for v in range(values.shape[0]):
                    rows[r, first_value + v] = values[v, i]
                is_put, now, place = True, ts[i], seq[i]
            is_full = _advance(
                p,
                now,
                place,
                code,
                program,
                has_run,
                conditions,
                rows,
                partitions,
                choices,
                heads,
                items,
                freed,
                c,
            )
            if is_full:
                c[STOPPED], c[IS_PUT], c[NOW], c[NOW_SEQ] = 1, 1 if is_put else 0, now, place
                return i
    return partition.size


@inlined
def _new_row(free_rows: np.ndarray, c: np.ndarray) -> int:
    if c[FREE_ROWS]:
        c[FREE_ROWS] -= 1
        r = free_rows[c[FREE_ROWS]]
    else:
        r = c[END_ROWS]
        c[END_ROWS] += 1
    return r


@inlined
def _put(r: int, p: int, rows: np.ndarray, partitions: np.ndarray) -> None:
    """Put a row at the end of its partition's list."""
    rows[r, NEXT], rows[r, HELD], rows[r, SEEN_BY] = NONE, 1, NONE
    if partitions[p, START] == NONE:
        partitions[p, START] = r
    else:
        rows[partitions[p, TAIL], NEXT] = r
    partitions[p, TAIL] = r


@inlined
def _advance(
    p: int,
    now: int,
    seq: int,
    code: np.ndarray,
    program: Program,
    has_run: bool,
    conditions: Conditions,
    rows: np.ndarray,
    partitions: np.ndarray,
    choices: np.ndarray,
    heads: np.ndarray,
    items: np.ndarray,
    freed: np.ndarray,
    c: np.ndarray,
) -> bool:
    """Go on with a partition at an instant, until it waits for a row; True: there is no room."""
    is_full = False
    while partitions[p, START] != NONE:
        start = partitions[p, START]
        if partitions[p, LIVE] or rows[start, BITS] & program.begins:
            if not partitions[p, LIVE]:
                _begin(p, rows[start, TS] + program.within, partitions)
                if has_run:
                    run_conditions.begin(conditions.trackers, partitions[p, REGISTERS:])
            outcome = _search(
                p, now, code, program, has_run, conditions, rows, partitions, choices, c
            )
        else:
            outcome = _FAILED
        if outcome == _WAITS:
            break
        target, problem = rows[start, NEXT], FINE
        if outcome != _FAILED and outcome != _LACKS_ROOM:
            if outcome == _FOUND:
                target, problem = _target(p, program.skip, program.target, rows, partitions)
            else:
                problem = outcome
            if not _emit(p, now, seq, problem, rows, partitions, heads, items, c):
                outcome = _LACKS_ROOM
        if outcome == _LACKS_ROOM:
            is_full = True
            break
        _begin_behind(p, target, rows, partitions, choices, freed, c)
    return is_full


@inlined
def _begin(p: int, due: int, partitions: np.ndarray) -> None:
    partitions[p, LIVE] = 1
    partitions[p, DUE] = due
    partitions[p, CURRENT] = NONE
    partitions[p, PLACE] = 0
    partitions[p, TOP] = NONE
    partitions[p, STEPS] = 0


@inlined
def _search(
    p: int,
    now: int,
    code: np.ndarray,
    program: Program,
    has_run: bool,
    conditions: Conditions,
    rows: np.ndarray,
    partitions: np.ndarray,
    choices: np.ndarray,
    c: np.ndarray,
) -> int:
    """Go on with an attempt -> _WAITS, _FAILED, _FOUND, _LACKS_ROOM, or a problem."""
    words = program.words
    start, current = partitions[p, START], partitions[p, CURRENT]
    place, steps = partitions[p, PLACE], partitions[p, STEPS]
    end = partitions[p, DUE]
    outcome = _FOUND
    while code[place, 0] != MATCH:
        if code[place, 0] == JUMP:
            place = code[place, 1]
            continue
        is_right = True
        if code[place, 0] == TAKE:
            row = start if current == NONE else rows[current, NEXT]
            if row == NONE and end > now:
                outcome = _WAITS
                break
            steps += 1
            if steps > program.most_steps:
                outcome = TOO_MANY_STEPS
                break
            variable = code[place, 1]
            is_right = (
                row != NONE and rows[row, TS] < end and (rows[row, BITS] >> variable) & 1 != 0
            )
            if is_right and has_run:
                fit = _fits(row, variable, conditions, words, rows, partitions[p, REGISTERS:])
                if fit > TRUE:
                    outcome = fit
                    break
                is_right = fit == TRUE
            if is_right:
                rows[row, LABEL] = variable
                current = row
                place += 1
        else:
            if c[FREE] == NONE and c[CHOICES] == choices.shape[0]:
                outcome = _LACKS_ROOM
                break
            if words and current != NONE:
                is_right = not _is_seen(rows, current, rows[start, NUMBER], code[place, 3], words)
            if is_right:
                _remember(p, code[place, 2], current, has_run, partitions, choices, c)
                place = code[place, 1]
        if is_right:
            continue
        top = partitions[p, TOP]
        if top == NONE:
            outcome = _FAILED
            break
        place, current = choices[top, C_PLACE], choices[top, C_CURRENT]
        _take_back(p, top, has_run, partitions, choices, c)
    partitions[p, CURRENT], partitions[p, PLACE], partitions[p, STEPS] = current, place, steps
    return outcome


@kernel
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
    scratch[:] = registers
    values = rows[row, SEEN + words :]
    if not run_conditions.track(
        conditions.trackers, variable, row, values, rows[row, NULLS], scratch
    ):
        return run_conditions.OVERFLOW
    if conditions.starts[variable] < conditions.starts[variable + 1]:
        outcome = run_conditions.satisfied(
            conditions, variable, row, scratch, rows, SEEN + words, NULLS
        )
        if outcome != TRUE:
            return outcome
    registers[:] = scratch
    return TRUE


@inlined
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


@inlined
def _remember(
    p: int,
    place: int,
    current: int,
    has_run: bool,
    partitions: np.ndarray,
    choices: np.ndarray,
    c: np.ndarray,
) -> None:
    """Make a choice, for which there is room."""
    new = c[FREE]
    if new != NONE:
        c[FREE] = choices[new, OLDER]
    else:
        new = c[CHOICES]
        c[CHOICES] += 1
    choices[new, OLDER] = partitions[p, TOP]
    choices[new, C_PLACE], choices[new, C_CURRENT] = place, current
    if has_run:
        choices[new, C_REGISTERS:] = partitions[p, REGISTERS:]
    partitions[p, TOP] = new


@inlined
def _take_back(
    p: int, top: int, has_run: bool, partitions: np.ndarray, choices: np.ndarray, c: np.ndarray
) -> None:
    """Give up the newest choice, and let registers be as they were."""
    partitions[p, TOP] = choices[top, OLDER]
    choices[top, OLDER] = c[FREE]
    c[FREE] = top
    if has_run:
        partitions[p, REGISTERS:] = choices[top, C_REGISTERS:]


@inlined
def _begin_behind(
    p: int,
    target: int,
    rows: np.ndarray,
    partitions: np.ndarray,
    choices: np.ndarray,
    freed: np.ndarray,
    c: np.ndarray,
) -> None:
    """Let the next attempt begin at a row, and free those before it, and the choices."""
    row = partitions[p, START]
    while row != target:
        rows[row, HELD] = 0
        freed[c[FREED]] = row
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


@kernel
def _target(
    p: int, skip: int, variables: int, rows: np.ndarray, partitions: np.ndarray
) -> tuple[int, int]:
    """Where the next attempt begins behind a match, and the problem."""
    start, last = partitions[p, START], partitions[p, CURRENT]
    if skip == PAST_LAST:
        return rows[last, NEXT], FINE
    if skip == TO_NEXT:
        return rows[start, NEXT], FINE
    found, row = NONE, start
    while True:
        if (variables >> rows[row, LABEL]) & 1:
            found = row
            if skip == TO_FIRST:
                break
        if row == last:
            break
        row = rows[row, NEXT]
    if found == NONE:
        return rows[start, NEXT], NO_TARGET
    if found == start:
        return rows[start, NEXT], TARGET_IS_FIRST
    return found, FINE


@kernel
def _emit(
    p: int,
    now: int,
    seq: int,
    problem: int,
    rows: np.ndarray,
    partitions: np.ndarray,
    heads: np.ndarray,
    items: np.ndarray,
    c: np.ndarray,
) -> bool:
    """Add a match, or the first row of an attempt with a problem; False: there is no room."""
    start = partitions[p, START]
    last = partitions[p, CURRENT] if problem == FINE else start
    h, at = c[HEADS], c[ITEMS]
    if h == heads.shape[0]:
        return False
    row = start
    while True:
        if at == items.shape[0]:
            return False
        items[at, 0], items[at, 1] = row, rows[row, LABEL]
        at += 1
        if row == last:
            break
        row = rows[row, NEXT]
    heads[h, H_TS], heads[h, H_SEQ] = now, seq
    heads[h, H_NUMBER], heads[h, H_PROBLEM] = rows[start, NUMBER], problem
    heads[h, H_FIRST], heads[h, H_ROWS] = c[ITEMS], at - c[ITEMS]
    c[HEADS], c[ITEMS] = h + 1, at
    return True


@kernel
def pick(
    low: np.ndarray,
    high: np.ndarray,
    label: np.ndarray,
    variables: int,
    from_end: bool,
    offset: int,
) -> np.ndarray:
    """int64[n]: the item in [low, high) that is ``offset`` behind the first of some variables, or
    before the last; NONE if there is none.
    """
    out = np.full(low.size, NONE, np.int64)
    for i in range(low.size):
        left = offset
        length = high[i] - low[i]
        for k in range(length):
            item = high[i] - 1 - k if from_end else low[i] + k
            if (variables >> label[item]) & 1:
                if left == 0:
                    out[i] = item
                    break
                left -= 1
    return out


@kernel
def members(
    low: np.ndarray, high: np.ndarray, label: np.ndarray, variables: int
) -> tuple[np.ndarray, np.ndarray]:
    """The items in [low, high) of some variables: int64[m] places in ``low``, int64[m] items."""
    count = 0
    for i in range(low.size):
        for item in range(low[i], high[i]):
            count += (variables >> label[item]) & 1
    place, found = np.empty(count, np.int64), np.empty(count, np.int64)
    count = 0
    for i in range(low.size):
        for item in range(low[i], high[i]):
            if (variables >> label[item]) & 1:
                place[count] = i
                found[count] = item
                count += 1
    return place, found
