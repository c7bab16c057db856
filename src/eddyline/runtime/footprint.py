"""How much memory runtime objects hold: the arrays that can be reached from them."""

from __future__ import annotations

import mmap
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from eddyline.runtime.stores.rowstore import RowStore

_OURS = "eddyline.runtime."


def nbytes_of(root: Any, apart: Iterable[Any] = (), *, used: bool = False) -> int:
    """Bytes of the NumPy arrays below an object, each counted once.

    Args:
        apart: objects that are not entered: others account for them.
        used: of row stores, count what their rows take, not the room for others.
    """
    seen = {id(a) for a in apart}
    waiting = [root]
    total = 0
    while waiting:
        thing = waiting.pop()
        if id(thing) in seen:
            continue
        seen.add(id(thing))
        if isinstance(thing, np.ndarray):
            total += thing.nbytes if thing.base is None or _is_mapped(thing.base) else 0
            waiting.append(thing.base)
        elif used and isinstance(thing, RowStore):
            total += thing.used_bytes
        else:
            waiting.extend(_parts(thing))
    return total


def _is_mapped(base: Any) -> bool:
    """Whether an array with this base is a whole memory mapping."""
    return isinstance(base, memoryview) and isinstance(base.obj, mmap.mmap)


def _parts(thing: Any) -> Iterator[Any]:
    if isinstance(thing, dict):
        yield from thing.values()
    elif isinstance(thing, (list, tuple, set, frozenset)):
        yield from thing
    elif type(thing).__module__.startswith(_OURS):
        yield from getattr(thing, "__dict__", {}).values()
        for cls in type(thing).__mro__:
            for slot in getattr(cls, "__slots__", ()):
                yield getattr(thing, slot, None)
