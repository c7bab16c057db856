"""Sets of values that a predicate over one attribute accepts.

Every boolean combination of comparisons of an attribute with constants accepts a union of
intervals, with or without NULL and NaN. This is set algebra over {values} + {NULL} + {NaN}; the
caller handles that a comparison with NULL is neither true nor false. NaN equals itself and is
larger than all values.

Strings are ordered by code point, the order of their UTF-8 bytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

#: A position between values: (1, v, 0) is directly before v, (1, v, 1) directly after it.
_Cut: TypeAlias = tuple[Any, ...]
_START: Final[_Cut] = (0,)
_END: Final[_Cut] = (2,)


@dataclass(frozen=True, slots=True)
class Interval:
    """The values between two bounds; None: no bound. A bound is never NaN."""

    low: Any
    low_closed: bool
    high: Any
    high_closed: bool

    def __str__(self) -> str:
        if self.low is not None and self.low == self.high:
            return f"{{{self.low}}}"
        left = "(-inf" if self.low is None else f"{'[' if self.low_closed else '('}{self.low}"
        right = "inf)" if self.high is None else f"{self.high}{']' if self.high_closed else ')'}"
        return f"{left}, {right}"


@dataclass(frozen=True, slots=True)
class ValueSet:
    """The values that a predicate over one attribute accepts.

    Attributes:
        intervals: ascending, not empty, disjoint and not adjacent.
        null: whether NULL is accepted.
        nan: whether NaN is accepted (it is in no interval); unused for types without NaN.
    """

    intervals: tuple[Interval, ...]
    null: bool = False
    nan: bool = False

    def union(self, other: ValueSet) -> ValueSet:
        """The values in either set."""
        merged = _merged([*_spans(self), *_spans(other)])
        return ValueSet(_intervals(merged), self.null or other.null, self.nan or other.nan)

    def intersection(self, other: ValueSet) -> ValueSet:
        """The values in both sets."""
        common = _common(list(_spans(self)), list(_spans(other)))
        return ValueSet(_intervals(common), self.null and other.null, self.nan and other.nan)

    def complement(self) -> ValueSet:
        """The values, NULL and NaN that are not in this set."""
        cuts = [_START, *(cut for span in _spans(self) for cut in span), _END]
        gaps = zip(cuts[::2], cuts[1::2], strict=True)
        return ValueSet(_intervals(g for g in gaps if g[0] < g[1]), not self.null, not self.nan)

    def __contains__(self, value: Any) -> bool:
        if value is None:
            return self.null
        if value != value:
            return self.nan
        return any(low <= (1, value, 0) and (1, value, 1) <= high for low, high in _spans(self))

    def __str__(self) -> str:
        parts = [str(i) for i in self.intervals]
        parts += ["NULL"] * self.null + ["NaN"] * self.nan
        return " | ".join(parts) or "nothing"


def _spans(values: ValueSet) -> Iterator[tuple[_Cut, _Cut]]:
    """The intervals as pairs of cuts."""
    for i in values.intervals:
        low = _START if i.low is None else (1, i.low, 0 if i.low_closed else 1)
        high = _END if i.high is None else (1, i.high, 1 if i.high_closed else 0)
        yield low, high


def _intervals(spans: Iterable[tuple[_Cut, _Cut]]) -> tuple[Interval, ...]:
    def interval(low: _Cut, high: _Cut) -> Interval:
        start, stop = low != _START, high != _END
        return Interval(
            low[1] if start else None,
            start and low[2] == 0,
            high[1] if stop else None,
            stop and high[2] == 1,
        )

    return tuple(interval(*s) for s in spans)


def _merged(spans: list[tuple[_Cut, _Cut]]) -> list[tuple[_Cut, _Cut]]:
    """The union of spans in any order; adjacent spans are merged."""
    out: list[tuple[_Cut, _Cut]] = []
    for low, high in sorted(spans):
        if out and low <= out[-1][1]:
            out[-1] = (out[-1][0], max(out[-1][1], high))
        else:
            out.append((low, high))
    return out


def _common(
    left: list[tuple[_Cut, _Cut]], right: list[tuple[_Cut, _Cut]]
) -> Iterator[tuple[_Cut, _Cut]]:
    """The intersection of two ascending sequences of spans."""
    i = j = 0
    while i < len(left) and j < len(right):
        low = max(left[i][0], right[j][0])
        high = min(left[i][1], right[j][1])
        if low < high:
            yield low, high
        if left[i][1] < right[j][1]:
            i += 1
        else:
            j += 1


_ALL: Final = (Interval(None, False, None, False),)

#: Accepted by ``FALSE``.
NOTHING: Final = ValueSet(())
#: Accepted by ``TRUE``.
EVERYTHING: Final = ValueSet(_ALL, null=True, nan=True)
#: Accepted by ``IS NULL``.
ONLY_NULL: Final = ValueSet((), null=True)
#: Accepted by ``IS NOT NULL``.
NOT_NULL: Final = ValueSet(_ALL, nan=True)


#: Accepted by ``= NaN``, and by ``< NaN``.
_ONLY_NAN: Final = ValueSet((), nan=True)
_NUMBERS: Final = ValueSet(_ALL)


def _is_nan(constant: Any) -> bool:
    return bool(constant != constant)


def above(constant: Any) -> ValueSet:
    """``attribute > constant``."""
    if constant is None or _is_nan(constant):
        return NOTHING
    return ValueSet((Interval(constant, False, None, False),), nan=True)


def at_least(constant: Any) -> ValueSet:
    """``attribute >= constant``."""
    if constant is None:
        return NOTHING
    if _is_nan(constant):
        return _ONLY_NAN
    return ValueSet((Interval(constant, True, None, False),), nan=True)


def below(constant: Any) -> ValueSet:
    """``attribute < constant``."""
    if constant is None:
        return NOTHING
    return _NUMBERS if _is_nan(constant) else ValueSet((Interval(None, False, constant, False),))


def at_most(constant: Any) -> ValueSet:
    """``attribute <= constant``."""
    if constant is None:
        return NOTHING
    return NOT_NULL if _is_nan(constant) else ValueSet((Interval(None, False, constant, True),))


def equal(constant: Any) -> ValueSet:
    """``attribute = constant``."""
    if constant is None:
        return NOTHING
    return _ONLY_NAN if _is_nan(constant) else ValueSet((Interval(constant, True, constant, True),))


def not_equal(constant: Any) -> ValueSet:
    """``attribute <> constant``."""
    return NOTHING if constant is None else equal(constant).complement().intersection(NOT_NULL)


def one_of(constants: Iterable[Any]) -> ValueSet:
    """``attribute IN (constants)`` is true."""
    known = [c for c in constants if c is not None]
    numbers = sorted({c for c in known if not _is_nan(c)})
    points = tuple(Interval(c, True, c, True) for c in numbers)
    return ValueSet(points, nan=any(map(_is_nan, known)))
