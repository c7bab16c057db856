"""The names that ``dir`` lists, and so what shells and notebooks complete: those for users."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, TypeVar

C = TypeVar("C", bound=type)


#: Of an engine, and of a query.
ENGINE: Final = (
    *("advance", "clock", "drop", "explain", "function", "groups", "load", "options", "process"),
    *("push", "push_many", "queries", "query", "reset_watermark", "save", "shed", "sql", "stats"),
    *("strategy", "stream", "table", "wall_clock", "watermark"),
)
QUERY: Final = (
    *("emit", "explain", "name", "options", "rows_out", "schema", "set_aside", "snapshot", "sql"),
    *("stats", "streams", "subscribe"),
)


def offers(names: Sequence[str]) -> Callable[[C], C]:
    """Let ``dir`` of an instance list these names, and those with underscores of every object."""

    def listed(self: object) -> list[str]:
        return sorted({*names, *dir(object)})

    def decorated(class_: C) -> C:
        class_.__dir__ = listed  # type: ignore[method-assign, assignment]
        return class_

    return decorated
