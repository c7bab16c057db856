"""The tables of the buckets of hash indexes and tables of slots, while rows come."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from eddyline.runtime.stores.buckets import Buckets

if TYPE_CHECKING:
    from numpy.typing import NDArray

Table = tuple["NDArray[Any]", int, int | None]


def watched_tables(monkeypatch: pytest.MonkeyPatch) -> list[Table]:
    """All tables after each call that may have split buckets: heads, shift and split; they come
    into the list later.
    """
    tables: list[Table] = []
    split = Buckets.split

    def watched(self: Buckets, *arguments: Any) -> bool:
        moved = split(self, *arguments)
        tables.append(self.table)
        return moved

    monkeypatch.setattr(Buckets, "split", watched)
    return tables


def refuse_to_rebuild(monkeypatch: pytest.MonkeyPatch) -> None:
    """From now on the test fails if chains are built anew."""
    monkeypatch.setattr(Buckets, "renew", lambda *_: pytest.fail("it was rebuilt"))
