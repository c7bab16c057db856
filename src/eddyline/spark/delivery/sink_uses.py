"""Who uses a sink of a job."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from typing import Final

from eddyline.spark.sinks.failure_policy import FailurePolicy
from eddyline.spark.sinks.sink_bases import Sink
from eddyline.spark.sinks.sinks import FileSink
from eddyline.spark.storage.directory import path_segment

#: Kind and name of the packed batches of a shard's output.
Key = tuple[str, str]
#: Maximum number of queries that a message names.
_NAMED: Final = 3


@dataclass
class SinkUse:
    """Who uses a sink, and what happens to rows that it does not take.

    Attributes:
        name: its format. place: a name for its files in the checkpoint, the same at each start.
        labels: of its queries or side outputs. former: of queries that have another sink now, to
            which no rows have come so far.
    """

    name: str
    place: str
    policy: FailurePolicy
    labels: list[str] = field(default_factory=list)
    former: list[str] = field(default_factory=list)

    @property
    def all(self) -> list[str]:
        """The present and the former ones."""
        return [*self.labels, *self.former]

    @property
    def described(self) -> str:
        """The first queries in words."""
        more = len(self.all) - _NAMED
        shown = ", ".join(f"'{label}'" for label in self.all[:_NAMED])
        return f"{shown} and {more} more" if more > 0 else shown

    @property
    def segment(self) -> str:
        """A name for its files that tells who uses it."""
        return f"{path_segment((self.all or [self.name])[0])}-{self.place}"


def place_of(key: Key, sink: Sink) -> str:
    """A name for the files of a sink in the checkpoint, from a key of its packed batches."""
    by_path = isinstance(sink, FileSink) and key[0] == "changes"
    identity = ("path", sink.path) if by_path and isinstance(sink, FileSink) else key
    return hashlib.blake2b(json.dumps(identity).encode(), digest_size=8).hexdigest()
