"""What holds of the rows of a node along an axis: the statements that ``locality.py`` proves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from eddyline.algebra.expressions import Expr
from eddyline.algebra.functions.fallibility import can_fail
from eddyline.spark.partitioning.equalities import in_terms_of


class NotLocal(Exception):
    """The reason why cells along an axis cannot compute a query each for itself."""


@dataclass(frozen=True)
class Everywhere:
    """Every coordinate has all rows."""


@dataclass(frozen=True)
class Once:
    """Each row is at exactly one coordinate."""


@dataclass(frozen=True)
class Keyed:
    """Each row is at the coordinate of the hash of its key.

    Attributes:
        key: for each part of the key, expressions over the node's columns with that value.
    """

    key: tuple[frozenset[Expr], ...]


Held: TypeAlias = Everywhere | Once | Keyed


def by_keys(held: Held, keys: Sequence[Expr], columns: Sequence[Expr], what: str) -> Held:
    """Rows with equal ``keys`` become a row with ``columns``, if they are together."""
    if isinstance(held, Everywhere):
        return held
    known = dict(zip(keys, columns, strict=False))
    if isinstance(held, Once):
        raise NotLocal(f"{what} needs all rows of a value together")
    found = over(held.key, known)
    if found is None:
        raise NotLocal(f"{what} does not contain {key_text(held.key)}, by which rows are dealt")
    return found


def determined(held: Keyed, known: Mapping[Expr, Expr]) -> bool:
    """Whether known expressions determine the key."""
    return over(held.key, known) is not None


def over(key: Iterable[frozenset[Expr]], known: Mapping[Expr, Expr]) -> Keyed | None:
    """The key in terms of known expressions; None if they do not determine it."""
    parts = [frozenset(r for e in part if (r := in_terms_of(e, known)) is not None) for part in key]
    return Keyed(tuple(parts)) if all(parts) else None


def require_at_one_coordinate(expr: Expr, held: Held) -> None:
    """An expression that can fail is computed of rows that are at one coordinate."""
    if isinstance(held, Everywhere):
        require_infallible(expr)


def require_infallible(expr: Expr) -> None:
    """An expression cannot fail."""
    if can_fail(expr):
        raise NotLocal(
            f"{expr} can fail for a row, and each cell with a copy of the row would report it; "
            "a try_ function gives NULL instead"
        )


def key_text(key: Iterable[frozenset[Expr]]) -> str:
    """A key in words."""
    return ", ".join(min(map(str, part)) for part in key)
