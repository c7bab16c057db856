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
from eddyline.kernels.options import kernel
from eddyline.kernels.run_conditions import FALSE, TRUE, Conditions

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
#: row, where in the program it is, its newest choice, its steps; then registers.
START, TAIL, LIVE, CURRENT, PLACE, TOP, STEPS, WAITS, REGISTERS = range(9)
#: Columns of a choice: an older one, where in the program it is, the last row; then registers.
OLDER, C_PLACE, C_CURRENT, C_REGISTERS = range(4)
#: Counters: free choices (a list), choices ever used, matches and their rows, freed rows, rows that
#: were put into lists, free numbers of rows, and the end of these.
FREE, CHOICES, HEADS, ITEMS, FREED, TAKEN, FREE_ROWS, END_ROWS = range(8)
COUNTERS = 8
#: Columns of a match: instant, its place within the instant, number of the first row, where its
#: rows begin, how many they are, and a problem.
H_TS, H_SEQ, H_NUMBER, H_FIRST, H_ROWS, H_PROBLEM = range(6)
#: Problems of a match; those of conditions are OVERFLOW and ZERO_DIVISOR.
FINE = 0
NO_TARGET, TARGET_IS_FIRST, TOO_MANY_STEPS = 11, 12, 13
#: Ways to skip.
PAST_LAST, TO_NEXT, TO_FIRST, TO_LAST = range(4)
#: ``within`` without a limit.
NO_LIMIT = 1 << 62


class Program(NamedTuple):
    """A pattern.

    Attributes:
        code: int64[n, 4]: instructions, and the number of a split.
        begins: the variables that the first row can have, as bits.
        within: the time after its first row from which on rows are not part of a match, in us.
        skip: a way. target: the variables to skip to, as bits.
        words: of bits of splits per row; 0: splits are tried again, as conditions read the match.
        most_steps: of one attempt.
    """

    code: np.ndarray
    begins: int
    within: int
    skip: int
    target: int
    words: int
    most_steps: int


class Lists(NamedTuple):
    """What is kept, and what happens; all arrays are int64.

    Attributes:
        rows, partitions, choices: see above; heads, items: matches, and (row, variable) of each of
            their rows. freed, taken: numbers of rows. free_rows: a stack.
        counters: see above.
    """

    rows: np.ndarray
    partitions: np.ndarray
    choices: np.ndarray
    heads: np.ndarray
    items: np.ndarray
    freed: np.ndarray
    taken: np.ndarray
    free_rows: np.ndarray
    counters: np.ndarray


@kernel
def _longer(array: np.ndarray) -> np.ndarray:
    longer = np.empty((2 * array.shape[0], array.shape[1]), np.int64)
    longer[: array.shape[0]] = array
    return longer


@kernel
def _with_room(lists: Lists) -> Lists:
    """The lists with room for a choice, a match, and a row of a match."""
    choices, heads, items, c = lists.choices, lists.heads, lists.items, lists.counters
    if c[FREE] == NONE and c[CHOICES] == choices.shape[0]:
        choices = _longer(choices)
    if c[HEADS] == heads.shape[0]:
        heads = _longer(heads)
    if c[ITEMS] == items.shape[0]:
        items = _longer(items)
    return Lists(
        lists.rows,
        lists.partitions,
        choices,
        heads,
        items,
        lists.freed,
        lists.taken,
        lists.free_rows,
        c,
    )


@kernel
def feed(
    partition: np.ndarray,
    ts: np.ndarray,
    seq: np.ndarray,
    bits: np.ndarray,
    nulls: np.ndarray,
    values: np.ndarray,
    number: int,
    program: Program,
    conditions: Conditions,
    lists: Lists,
) -> Lists:
    """Go on with the rows of a chunk, in their order; returns the lists, some of them replaced.

    Args:
        partition, ts, seq: int64[n]. bits: int64[n], the variables whose conditions on the row
            alone hold. values: int64[v, n], which other conditions read; nulls: int64[n], a bit per
            value. number: of the first row.
    """
    rows, partitions, c = lists.rows, lists.partitions, lists.counters
    first_value = SEEN + program.words
    for i in range(partition.size):
        p = partition[i]
        while partitions[p, LIVE]:
            due = rows[partitions[p, START], TS] + program.within
            if due > ts[i]:
                break
            lists = _advanced(p, due, -1, program, conditions, lists)
        if partitions[p, START] == NONE and bits[i] & program.begins == 0:
            continue
        if c[FREE_ROWS]:
            c[FREE_ROWS] -= 1
            r = lists.free_rows[c[FREE_ROWS]]
        else:
            r = c[END_ROWS]
            c[END_ROWS] += 1
        rows[r, NEXT], rows[r, TS], rows[r, NUMBER] = NONE, ts[i], number + i
        rows[r, BITS], rows[r, SOURCE], rows[r, HELD] = bits[i], i, 1
        rows[r, NULLS], rows[r, SEEN_BY] = nulls[i], NONE
        for v in range(values.shape[0]):
            rows[r, first_value + v] = values[v, i]
        lists.taken[c[TAKEN]] = r
        c[TAKEN] += 1
        if partitions[p, START] == NONE:
            partitions[p, START] = r
        else:
            rows[partitions[p, TAIL], NEXT] = r
        partitions[p, TAIL] = r
        lists = _advanced(p, ts[i], seq[i], program, conditions, lists)
    return lists


@kernel
def close(
    due: np.ndarray, clock: int, program: Program, conditions: Conditions, lists: Lists
) -> Lists:
    """Let time pass for partitions, int64[n]: decide the attempts that can get no more rows."""
    rows, partitions = lists.rows, lists.partitions
    for i in range(due.size):
        p = due[i]
        while partitions[p, LIVE]:
            at = rows[partitions[p, START], TS] + program.within
            if at > clock:
                break
            lists = _advanced(p, at, -1, program, conditions, lists)
    return lists


@kernel
def _advanced(
    p: int, now: int, seq: int, program: Program, conditions: Conditions, lists: Lists
) -> Lists:
    """Go on with a partition at an instant, until it waits for a row."""
    rows, partitions = lists.rows, lists.partitions
    while partitions[p, START] != NONE:
        start = partitions[p, START]
        if not partitions[p, LIVE]:
            if rows[start, BITS] & program.begins == 0:
                _begin_behind(p, rows[start, NEXT], lists)
                continue
            _begin(p, conditions, partitions)
        outcome, lists = _searched(p, now, program, conditions, lists)
        if outcome == _WAITS:
            return lists
        if outcome == _FAILED:
            _forget_choices(p, lists)
            _begin_behind(p, rows[start, NEXT], lists)
            continue
        problem = FINE if outcome == _FOUND else outcome
        target = rows[start, NEXT]
        if problem == FINE:
            target, problem = _target(p, program, rows, partitions)
        lists = _emitted(p, now, seq, problem, lists)
        _forget_choices(p, lists)
        _begin_behind(p, target, lists)
    return lists


_WAITS, _FAILED, _FOUND = -3, -2, -1


@kernel
def _begin(p: int, conditions: Conditions, partitions: np.ndarray) -> None:
    partitions[p, LIVE] = 1
    partitions[p, CURRENT] = NONE
    partitions[p, PLACE] = 0
    partitions[p, TOP] = NONE
    partitions[p, STEPS] = 0
    if conditions.trackers.shape[0]:
        run_conditions.begin(conditions.trackers, partitions[p, REGISTERS:])


@kernel
def _searched(
    p: int, now: int, program: Program, conditions: Conditions, lists: Lists
) -> tuple[int, Lists]:
    """Go on with an attempt -> _WAITS, _FAILED, _FOUND, or a problem; and the lists."""
    rows, partitions, code = lists.rows, lists.partitions, program.code
    start, current = partitions[p, START], partitions[p, CURRENT]
    place, steps = partitions[p, PLACE], partitions[p, STEPS]
    attempt, end = rows[start, NUMBER], rows[start, TS] + program.within
    registers = partitions[p, REGISTERS:]
    outcome = _FOUND
    while True:
        operation = code[place, 0]
        if operation == JUMP:
            place = code[place, 1]
            continue
        is_right = True
        if operation == TAKE:
            row = start if current == NONE else rows[current, NEXT]
            if row == NONE and end > now:
                outcome = _WAITS
                break
            steps += 1
            if steps > program.most_steps:
                outcome = TOO_MANY_STEPS
                break
            fit = _fits(row, code[place, 1], end, conditions, program, rows, registers)
            if fit > TRUE:
                outcome = fit
                break
            is_right = fit == TRUE
            if is_right:
                rows[row, LABEL] = code[place, 1]
                current = row
                place += 1
        elif operation == SPLIT:
            is_right = current == NONE or not _is_seen(
                rows, current, attempt, code[place, 3], program.words
            )
            if is_right:
                lists = _with_room(lists)
                _remember(p, code[place, 2], current, registers, lists)
                place = code[place, 1]
        else:
            break
        if is_right:
            continue
        top = partitions[p, TOP]
        if top == NONE:
            outcome = _FAILED
            break
        place, current = _taken_back(p, top, registers, lists)
    partitions[p, CURRENT], partitions[p, PLACE], partitions[p, STEPS] = current, place, steps
    return outcome, lists


@kernel
def _fits(
    row: int,
    variable: int,
    end: int,
    conditions: Conditions,
    program: Program,
    rows: np.ndarray,
    registers: np.ndarray,
) -> int:
    """Whether the attempt can go on with a row as a variable; registers are of it, then."""
    if row == NONE or rows[row, TS] >= end or not (rows[row, BITS] >> variable) & 1:
        return FALSE
    trackers = conditions.trackers
    if trackers.shape[0] == 0:
        return TRUE
    first_value = SEEN + program.words
    scratch = conditions.scratch
    scratch[:] = registers
    values = rows[row, first_value:]
    if not run_conditions.track(trackers, variable, row, values, rows[row, NULLS], scratch):
        return run_conditions.OVERFLOW
    if conditions.starts[variable] < conditions.starts[variable + 1]:
        outcome = run_conditions.satisfied(
            conditions, variable, row, scratch, rows, first_value, NULLS
        )
        if outcome != TRUE:
            return outcome
    registers[:] = scratch
    return TRUE


@kernel
def _is_seen(rows: np.ndarray, row: int, attempt: int, split: int, words: int) -> bool:
    """Whether the attempt has been at a split behind a row before; from now on it has."""
    if words == 0:
        return False
    if rows[row, SEEN_BY] != attempt:
        rows[row, SEEN_BY] = attempt
        rows[row, SEEN : SEEN + words] = 0
    word, bit = SEEN + (split >> 6), np.int64(1) << np.int64(split & 63)
    if rows[row, word] & bit:
        return True
    rows[row, word] |= bit
    return False


@kernel
def _remember(p: int, place: int, current: int, registers: np.ndarray, lists: Lists) -> None:
    c, choices = lists.counters, lists.choices
    if c[FREE] != NONE:
        new = c[FREE]
        c[FREE] = choices[new, OLDER]
    else:
        new = c[CHOICES]
        c[CHOICES] += 1
    choices[new, OLDER] = lists.partitions[p, TOP]
    choices[new, C_PLACE], choices[new, C_CURRENT] = place, current
    choices[new, C_REGISTERS:] = registers
    lists.partitions[p, TOP] = new


@kernel
def _taken_back(p: int, top: int, registers: np.ndarray, lists: Lists) -> tuple[int, int]:
    """Go back to the newest choice -> its place in the program, its last row."""
    choices = lists.choices
    lists.partitions[p, TOP] = choices[top, OLDER]
    choices[top, OLDER] = lists.counters[FREE]
    lists.counters[FREE] = top
    registers[:] = choices[top, C_REGISTERS:]
    return choices[top, C_PLACE], choices[top, C_CURRENT]


@kernel
def _forget_choices(p: int, lists: Lists) -> None:
    choices, c = lists.choices, lists.counters
    top = lists.partitions[p, TOP]
    while top != NONE:
        older = choices[top, OLDER]
        choices[top, OLDER] = c[FREE]
        c[FREE] = top
        top = older
    lists.partitions[p, TOP] = NONE


@kernel
def _begin_behind(p: int, target: int, lists: Lists) -> None:
    """Let the next attempt begin at a row, and free those before it."""
    rows, partitions, c = lists.rows, lists.partitions, lists.counters
    row = partitions[p, START]
    while row != target:
        rows[row, HELD] = 0
        lists.freed[c[FREED]] = row
        c[FREED] += 1
        row = rows[row, NEXT]
    partitions[p, START] = target
    partitions[p, LIVE] = 0


@kernel
def _target(p: int, program: Program, rows: np.ndarray, partitions: np.ndarray) -> tuple[int, int]:
    """Where the next attempt begins behind a match, and the problem."""
    start, last = partitions[p, START], partitions[p, CURRENT]
    if program.skip == PAST_LAST:
        return rows[last, NEXT], FINE
    if program.skip == TO_NEXT:
        return rows[start, NEXT], FINE
    found, row = NONE, start
    while True:
        if (program.target >> rows[row, LABEL]) & 1:
            found = row
            if program.skip == TO_FIRST:
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
def _emitted(p: int, now: int, seq: int, problem: int, lists: Lists) -> Lists:
    """Add a match, or the first row of an attempt with a problem, to the lists."""
    lists = _with_room(lists)
    rows, c = lists.rows, lists.counters
    start = lists.partitions[p, START]
    last = lists.partitions[p, CURRENT] if problem == FINE else start
    h = c[HEADS]
    lists.heads[h, H_TS], lists.heads[h, H_SEQ] = now, seq
    lists.heads[h, H_NUMBER], lists.heads[h, H_PROBLEM] = rows[start, NUMBER], problem
    lists.heads[h, H_FIRST] = c[ITEMS]
    row = start
    while True:
        lists = _with_room(lists)
        lists.items[c[ITEMS], 0] = row
        lists.items[c[ITEMS], 1] = rows[row, LABEL]
        c[ITEMS] += 1
        if row == last:
            break
        row = rows[row, NEXT]
    lists.heads[h, H_ROWS] = c[ITEMS] - lists.heads[h, H_FIRST]
    c[HEADS] += 1
    return lists


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


@kernel
def earlier_rows(partition: np.ndarray, last: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """int64[k, n]: for each of k offsets the row that is so many rows before each one in its
    partition: a place in the chunk, or what ``last`` has of it.

    Args:
        last: int64 by partition, [., m]: the last m rows, the newest first; from now on places in
            the chunk where rows are of it.
    """
    out = np.empty((offsets.size, partition.size), np.int64)
    most = last.shape[1]
    for i in range(partition.size):
        p = partition[i]
        for k in range(offsets.size):
            out[k, i] = last[p, offsets[k] - 1]
        for m in range(most - 1, 0, -1):
            last[p, m] = last[p, m - 1]
        last[p, 0] = i
    return out
