"""A warning in the log when the rows that wait for a watermark need much memory."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from typing import Any, Final

from eddyline.optimizer.byte_sizes import bytes_text

#: Size of the held rows of a group of streams, over all its shards, from which on the log warns.
HELD_BYTES: Final = 1_000_000_000
_log = logging.getLogger(__name__)


class HeldRowsWarning:
    """Warns once while the held rows of a group are above a limit.

    Args:
        limit_bytes: the limit. After a warning, the next one follows when the size has been below
            half of it.
    """

    def __init__(self, limit_bytes: int = HELD_BYTES) -> None:
        self._limit_bytes = limit_bytes
        self._above: set[str] = set()

    def check(self, reports: Iterable[Mapping[str, Any]]) -> None:
        """Log the groups that are above the limit now.

        Args:
            reports: those of the shards for one batch, with ``groups`` as of ``Engine.groups``.
        """
        held: dict[str, list[Mapping[str, Any]]] = {}
        for group in (group for report in reports for group in report["groups"]):
            held.setdefault(", ".join(group["members"]), []).append(group)
        for name, parts in held.items():
            size = sum(part["held_bytes"] for part in parts)
            if size > self._limit_bytes and name not in self._above:
                self._above.add(name)
                _log.warning(
                    "%s rows (%s) of %s wait for the watermark, which %s holds: limit the batches "
                    "of the streams that are ahead (maxBytesPerTrigger, maxOffsetsPerTrigger), or "
                    "declare IDLE AFTER",
                    f"{sum(part['held'] for part in parts):,}",
                    bytes_text(size),
                    name,
                    parts[0]["held_by"] or "LATENESS",
                )
            elif size < self._limit_bytes / 2:
                self._above.discard(name)
