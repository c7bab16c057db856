"""The key sets over some rows of an input, by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from hashlib import blake2b
from typing import Any, TypeVar

import numpy as np

from eddyline.runtime.batch import Batch, Evaluator
from eddyline.runtime.feedback.bloom_keys import BloomKeys
from eddyline.runtime.feedback.key_index import KeyIndex, KeySet, RowBuffer
from eddyline.runtime.state import State, nested
from eddyline.runtime.stores.columns import Array

K = TypeVar("K", bound=KeySet)
_NO_ROWS = np.zeros(0, np.int64)


class KeySets:
    """Key sets over the rows of ``rows``, one per name, for all probes with the same keys."""

    def __init__(self, rows: RowBuffer) -> None:
        self._rows = rows
        self._by_name: dict[object, KeySet] = {}

    def index(self, name: object, keys: Sequence[Evaluator]) -> KeyIndex:
        """The rows by key, for one more reader; equal names share an index."""
        return self._shared(("index", name), partial(KeyIndex, self._rows, keys), KeyIndex)

    def filter(self, name: object, keys: Sequence[Evaluator]) -> BloomKeys:
        """The same as a Bloom filter, with false positives."""
        return self._shared(("filter", name), partial(BloomKeys, self._rows, keys), BloomKeys)

    def _shared(self, name: object, make: Callable[[], K], kind: type[K]) -> K:
        if name not in self._by_name:
            self._by_name[name] = make()
        keys = self._by_name[name]
        assert isinstance(keys, kind), "the name begins with the kind"
        keys.readers += 1
        return keys

    def forget(self, keys: KeySet) -> None:
        """Close a key set that has no readers any more."""
        keys.close()
        self._by_name = {n: k for n, k in self._by_name.items() if k is not keys}

    def take_in(self, batch: Batch, positions: Array, released: Array = _NO_ROWS) -> None:
        """See ``KeySet.take_in``."""
        for keys in self._by_name.values():
            keys.take_in(batch, positions, released)

    def renew(self) -> None:
        """Rebuild them: there are other rows."""
        for keys in self._by_name.values():
            keys.renew()

    def settle(self, clock: int) -> None:
        """The chunk is over."""
        for keys in self._by_name.values():
            keys.settle(clock)

    def close(self) -> None:
        """Close all of them."""
        for keys in self._by_name.values():
            keys.close()

    def stats(self) -> dict[str, Any]:
        """Sizes of the Bloom filters, if there are any."""
        filters = [k.stats() for k in self._by_name.values() if isinstance(k, BloomKeys)]
        return {"bloom_filters": filters} if filters else {}

    def state(self) -> State:
        """Saved as plain arrays."""
        return {_digest(name): k.state() for name, k in self._by_name.items()}

    def restore(self, state: State) -> None:
        """Take over what ``state`` returned."""
        for name, keys in self._by_name.items():
            keys.restore(nested(state, _digest(name)))


def _digest(name: object) -> str:
    """The same for the same name, in every process."""
    return blake2b(repr(name).encode(), digest_size=8).hexdigest()
