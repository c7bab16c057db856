"""Bytes that the driver sends to the workers once, as Spark broadcasts."""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark import Broadcast, SparkContext


class BroadcastBlob:
    """Bytes that are read only when they are needed.

    The reference to the broadcast is pickled separately, because the process in which Spark
    inspects a stateful processor before it runs has no broadcasts.
    """

    def __init__(self, context: SparkContext, blob: bytes) -> None:
        self._broadcast: Broadcast[bytes] | None = context.broadcast(blob)
        self._reference = b""

    def __getstate__(self) -> dict[str, Any]:
        return {"_broadcast": None, "_reference": self._reference or pickle.dumps(self._broadcast)}

    def read(self) -> bytes:
        """The bytes, in a worker; it does not keep them."""
        broadcast: Broadcast[bytes] = self._broadcast or pickle.loads(self._reference)
        blob = broadcast.value
        if getattr(broadcast, "_path", None) is not None:  # it can be read again
            vars(broadcast).pop("_value", None)
        return blob
