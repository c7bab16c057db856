"""What happens to rows that a sink does not take: options of all sinks that can wait."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, cast, get_args

from eddyline.errors import DataError, did_you_mean
from eddyline.spark.formats.format_options import ON_FAILURE, WAITING_BYTES, OptionError

#: The batches wait for the sink; the job fails; or what the sink refuses goes to dead letters.
OnFailure = Literal["wait", "fail", "dead_letter"]

#: Default of the largest size of the batches that wait for a sink.
_MOST_BYTES: Final = 1 << 30


class UnavailableError(DataError):
    """A sink cannot be reached now."""


class RefusedError(DataError):
    """A sink will never take these rows."""


@dataclass(frozen=True)
class FailurePolicy:
    """The policy of one sink.

    Attributes:
        max_bytes: largest size of its batches that wait.
    """

    on_failure: OnFailure = "wait"
    max_bytes: int = _MOST_BYTES

    @classmethod
    def of(cls, label: str, options: Mapping[str, str]) -> FailurePolicy:
        """The policy that the options of a sink set.

        Args:
            label: of the query or side output, for messages.

        Raises:
            OptionError: a value is wrong.
        """
        chosen = options.get(ON_FAILURE, "wait").lower()
        if chosen not in get_args(OnFailure):
            advice = did_you_mean(chosen, get_args(OnFailure))
            raise OptionError(
                f"'{label}': {ON_FAILURE} = '{chosen}': {advice}", ON_FAILURE, "value"
            )
        size = options.get(WAITING_BYTES, str(_MOST_BYTES))
        if not (size.isascii() and size.isdigit()) or not int(size):
            raise OptionError(
                f"'{label}': {WAITING_BYTES} = '{size}' is not a number of bytes",
                WAITING_BYTES,
                "value",
            )
        return cls(cast(OnFailure, chosen), int(size))
