"""Conditions on the rows that have been matched so far: registers and a small stack machine.

A condition is a program: each step pushes a value, or replaces the values on top of the stack by
one. Values are int64 or float64 in the same memory, with a flag for NULL. Registers have what the
steps read of a match: rows, and running aggregates; *trackers* say how a row changes them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from eddyline.kernels.options import bare, bare_inlined

#: No row.
NONE = -1
#: Kinds of trackers. ``register`` is the first of those that they change.
TRACK_FIRST, TRACK_LAST, TRACK_COUNT, TRACK_SUM, TRACK_LEAST, TRACK_MOST = range(6)
#: Columns of trackers: kind, bits of variables, value or NONE, offset, register, is a float.
T_KIND, T_VARIABLES, T_VALUE, T_OFFSET, T_REGISTER, T_FLOAT = range(6)

#: Steps. ``OF_ROW value``: of the current row; ``OF_REGISTER register value``: of the row in a
#: register; ``NUMBER register counted``: a register, NULL if ``counted`` is a register of zero;
#: ``CONSTANT place``; the others replace operands. Arithmetic on whole numbers has their bits as
#: the second operand.
OF_ROW, OF_REGISTER, NUMBER, CONSTANT, NULL, TO_FLOAT, AND, OR, NOT, IS_NULL = range(10)
ADD, SUBTRACT, MULTIPLY, DIVIDE, NEGATIVE, ABSOLUTE = range(10, 16)
EQUAL, LESS, LESS_EQUAL, SAME, CHOOSE, COALESCE = range(16, 22)
#: Columns of steps: code, two operands, is on floats.
S_CODE, S_FIRST, S_SECOND, S_FLOAT = range(4)

#: Outcomes of a condition.
FALSE, TRUE, OVERFLOW, ZERO_DIVISOR = range(4)
_LEAST = -(1 << 63)
#: Most values on the stack.
DEPTH = 64


class Conditions(NamedTuple):
    """The programs of all variables.

    Attributes:
        trackers: int64[t, 6]. steps: int64[s, 4].
        starts: int64[v + 1], by variable: where its steps begin, and those of the next end.
        constants: int64[c], some the bits of float64.
        stack: int64[DEPTH] and nulls: bool[DEPTH], room.
        scratch: int64[r], room for registers.
    """

    trackers: np.ndarray
    steps: np.ndarray
    starts: np.ndarray
    constants: np.ndarray
    stack: np.ndarray
    nulls: np.ndarray
    scratch: np.ndarray


class Place(NamedTuple):
    """What conditions read of a match when it goes on with a row.

    Attributes:
        row: the row. registers: after it.
        rows: int64 by row, with values from ``first_value`` on, and a bit per NULL at ``nulls_at``.
    """

    row: int
    registers: np.ndarray
    rows: np.ndarray
    first_value: int
    nulls_at: int


@bare
def begin(trackers: np.ndarray, registers: np.ndarray) -> None:
    """Let registers be those of a match without rows."""
    for r in range(registers.size):
        registers[r] = 0
    for t in range(trackers.shape[0]):
        kind, first = trackers[t, T_KIND], trackers[t, T_REGISTER]
        if kind == TRACK_FIRST:
            registers[first] = NONE  # and the number of rows behind it
        elif kind == TRACK_LAST:
            for r in range(first, first + trackers[t, T_OFFSET] + 1):
                registers[r] = NONE


@bare
def track(
    trackers: np.ndarray,
    variable: int,
    row: int,
    values: np.ndarray,
    nulls: int,
    registers: np.ndarray,
) -> bool:
    """Let a row of a variable change registers; False: a sum does not fit.

    Args:
        values: int64 by value, of the row; nulls: a bit per value.
    """
    floats, numbers = values.view(np.float64), registers.view(np.float64)
    for t in range(trackers.shape[0]):
        if not (trackers[t, T_VARIABLES] >> variable) & 1:
            continue
        kind, r, v = trackers[t, T_KIND], trackers[t, T_REGISTER], trackers[t, T_VALUE]
        if kind == TRACK_FIRST:
            if registers[r + 1] == trackers[t, T_OFFSET]:
                registers[r] = row
            registers[r + 1] += 1
            continue
        if kind == TRACK_LAST:
            for k in range(trackers[t, T_OFFSET], 0, -1):
                registers[r + k] = registers[r + k - 1]
            registers[r] = row
            continue
        if v != NONE and (nulls >> v) & 1:
            continue
        if kind == TRACK_COUNT:
            registers[r] += 1
            continue
        is_float, seen = trackers[t, T_FLOAT], registers[r + 1]
        registers[r + 1] += 1
        if kind == TRACK_SUM:
            if is_float:
                numbers[r] += floats[v]
            else:
                total = registers[r] + values[v]
                if ((registers[r] ^ total) & (values[v] ^ total)) < 0:
                    return False
                registers[r] = total
        elif is_float:
            if seen == 0 or _float_less(floats[v], numbers[r]) == (kind == TRACK_LEAST):
                numbers[r] = floats[v]
        elif seen == 0 or (values[v] < registers[r]) == (kind == TRACK_LEAST):
            registers[r] = values[v]
    return True


@bare
def _float_less(a: float, b: float) -> bool:
    """NaN is larger than any number."""
    if np.isnan(a):
        return False
    return bool(np.isnan(b) or a < b)


@bare
def _float_equal(a: float, b: float) -> bool:
    return bool(a == b or (np.isnan(a) and np.isnan(b)))


@bare
def satisfied(conditions: Conditions, variable: int, at: Place) -> int:
    """Whether a variable's condition holds of a row: FALSE, TRUE, or why it has no value."""
    steps, stack, nulls = conditions.steps, conditions.stack, conditions.nulls
    floats = stack.view(np.float64)
    top = -1
    for s in range(conditions.starts[variable], conditions.starts[variable + 1]):
        code, a, b = steps[s, S_CODE], steps[s, S_FIRST], steps[s, S_SECOND]
        on_floats = steps[s, S_FLOAT] != 0
        if code <= NULL:
            top += 1
            stack[top], nulls[top] = _pushed(code, a, b, conditions.constants, at)
        elif code == TO_FLOAT:
            floats[top] = float(stack[top])
        elif code == NOT:
            stack[top] = 1 - stack[top]
        elif code == IS_NULL:
            stack[top] = 1 if nulls[top] else 0
            nulls[top] = False
        elif code in (NEGATIVE, ABSOLUTE):
            if on_floats:
                floats[top] = -floats[top] if code == NEGATIVE else abs(floats[top])
            elif code == NEGATIVE or stack[top] < 0:
                if not nulls[top] and (stack[top] == _LEAST or not _has_width(-stack[top], b)):
                    return OVERFLOW
                stack[top] = -stack[top]
        elif code == CHOOSE:  # condition, then, else
            top -= 2
            chosen = top + 1 if stack[top] != 0 and not nulls[top] else top + 2
            stack[top], nulls[top] = stack[chosen], nulls[chosen]
        else:
            top -= 1
            failure = _joined(code, conditions, floats, top, on_floats, b)
            if failure != TRUE:
                return failure
    return TRUE if stack[0] != 0 and not nulls[0] else FALSE


@bare_inlined
def _pushed(code: int, a: int, b: int, constants: np.ndarray, at: Place) -> tuple[int, bool]:
    """The value of a step without operands, and whether it is NULL."""
    if code == OF_ROW:
        return at.rows[at.row, at.first_value + a], (at.rows[at.row, at.nulls_at] >> a) & 1 != 0
    if code == OF_REGISTER:
        other = at.registers[a]
        if other == NONE or (at.rows[other, at.nulls_at] >> b) & 1 != 0:
            return 0, True
        return at.rows[other, at.first_value + b], False
    if code == NUMBER:
        return at.registers[a], b != NONE and at.registers[b] == 0
    return (constants[a], False) if code == CONSTANT else (0, True)


@bare
def _joined(
    code: int, conditions: Conditions, floats: np.ndarray, top: int, on_floats: bool, width: int
) -> int:
    """Make one value of the two on top, at ``top``; TRUE, or why there is none."""
    stack, nulls = conditions.stack, conditions.nulls
    if code in (AND, OR):
        _connect(code == AND, stack, nulls, top)
        return TRUE
    if code == COALESCE:
        if nulls[top]:
            stack[top], nulls[top] = stack[top + 1], nulls[top + 1]
        return TRUE
    if code == SAME:
        _same(stack, floats, nulls, top, on_floats)
        return TRUE
    nulls[top] = nulls[top] or nulls[top + 1]
    if nulls[top]:
        stack[top] = 0
        return TRUE
    if code >= EQUAL:
        stack[top] = _compared(code, stack, floats, top, on_floats)
        return TRUE
    return _computed(code, stack, floats, top, on_floats, width)


@bare
def _connect(is_and: bool, stack: np.ndarray, nulls: np.ndarray, top: int) -> None:
    """AND or OR with three values."""
    decisive = 0 if is_and else 1
    for k in range(top, top + 2):
        if not nulls[k] and (stack[k] != 0) == (decisive != 0):
            stack[top], nulls[top] = decisive, False
            return
    nulls[top] = nulls[top] or nulls[top + 1]
    stack[top] = 1 - decisive


@bare
def _same(
    stack: np.ndarray, floats: np.ndarray, nulls: np.ndarray, top: int, on_floats: bool
) -> None:
    """``<=>``"""
    if nulls[top] or nulls[top + 1]:
        equal = nulls[top] and nulls[top + 1]
    elif on_floats:
        equal = _float_equal(floats[top], floats[top + 1])
    else:
        equal = stack[top] == stack[top + 1]
    stack[top], nulls[top] = 1 if equal else 0, False


@bare
def _compared(code: int, stack: np.ndarray, floats: np.ndarray, top: int, on_floats: bool) -> int:
    if on_floats:
        x, y = floats[top], floats[top + 1]
        equal, less = _float_equal(x, y), _float_less(x, y)
    else:
        equal, less = stack[top] == stack[top + 1], stack[top] < stack[top + 1]
    if code == EQUAL:
        return 1 if equal else 0
    if code == LESS:
        return 1 if less and not equal else 0
    return 1 if less or equal else 0


@bare
def _computed(
    code: int, stack: np.ndarray, floats: np.ndarray, top: int, on_floats: bool, width: int
) -> int:
    """Compute in place; TRUE, or why there is no value. Whole numbers have ``width`` bits."""
    if on_floats:
        x, y = floats[top], floats[top + 1]
        if code == ADD:
            floats[top] = x + y
        elif code == SUBTRACT:
            floats[top] = x - y
        elif code == MULTIPLY:
            floats[top] = x * y
        elif y == 0:
            return ZERO_DIVISOR
        else:
            floats[top] = x / y
        return TRUE
    a, b = stack[top], stack[top + 1]
    if code == ADD:
        c = a + b
        if ((a ^ c) & (b ^ c)) < 0:
            return OVERFLOW
    elif code == SUBTRACT:
        c = a - b
        if ((a ^ b) & (a ^ c)) < 0:
            return OVERFLOW
    else:
        c = a * b
        if abs(float(a) * float(b)) > 9.3e18:
            return OVERFLOW
        if (a == -1 and b == _LEAST) or (a != 0 and a != -1 and c // a != b):
            return OVERFLOW
    if not _has_width(c, width):
        return OVERFLOW
    stack[top] = c
    return TRUE


@bare
def _has_width(number: int, width: int) -> bool:
    if width == 64:
        return True
    limit = np.int64(1) << np.int64(width - 1)
    return bool(-limit <= number < limit)
