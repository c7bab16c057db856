"""The sink ``python``: a function of the driver's process gets the rows of each batch."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Final

import pyarrow as pa

from eddyline.errors import DataError
from eddyline.spark.exchange.query_rows import QueryRows
from eddyline.spark.formats.format_options import OptionError
from eddyline.spark.sinks.failure_policy import RefusedError, UnavailableError
from eddyline.spark.sinks.sink_bases import OwnedSink, Target, named_rows

#: Called with the number of a batch, and its rows.
SinkFunction = Callable[[int, pa.Table], object]

#: ``module:name``, or the name of a query that was added with a function.
_FUNCTION: Final = re.compile(r"[\w.]+:[\w.]+|[^:]+")


@dataclass(eq=False)
class PythonSink(OwnedSink):
    """A function."""

    function: SinkFunction

    def deliver(
        self,
        batch_id: int,
        parts: Sequence[QueryRows],
        counts: Mapping[str, int],
        emptied: Sequence[str] = (),
    ) -> None:
        """Call the function; for a repeated batch again, with the same rows.

        Raises:
            RefusedError: it has raised a DataError. UnavailableError: another one.
        """
        rows = named_rows(self.owner, parts)
        if not rows.num_rows:
            return
        what = f"'{self.owner.label}': sink 'python'"
        try:
            self.function(batch_id, rows)
        except DataError as e:
            raise RefusedError(f"{what}: {e}") from e
        except Exception as e:  # of any code: it is tried again
            text = f"{type(e).__name__}: {e}".rstrip(": ")
            raise UnavailableError(f"{what}: {text}") from e


def python_sink(
    target: Target, options: Mapping[str, str], functions: Mapping[str, SinkFunction]
) -> PythonSink:
    """The sink of a target.

    Args:
        functions: by name, those that were given to the session.

    Raises:
        DataError: there is no such function.
    """
    name = function_name(options)
    if ":" in name:
        return PythonSink(target, imported(target.label, name))
    if name not in functions:
        raise DataError(
            f"'{target.label}': function = '{name}': the session has no such function: add the "
            "query by Session.query(..., sink=function), or write 'module:name'"
        )
    return PythonSink(target, functions[name])


def function_name(options: Mapping[str, str]) -> str:
    """The function in the options of a sink."""
    return next(value for option, value in options.items() if option.lower() == "function")


def imported(label: str, name: str) -> SinkFunction:
    """The function ``module:name``.

    Args:
        label: of the query or side output, for messages.

    Raises:
        DataError: there is no such function.
    """
    what = f"'{label}': function = '{name}'"
    module, _, path = name.partition(":")
    try:
        found: Any = import_module(module)
        for part in path.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError) as e:
        raise DataError(f"{what}: {e}; modules are looked for in PYTHONPATH") from e
    if not callable(found):
        raise DataError(f"{what} is no function")
    function: SinkFunction = found
    return function


def check_function(label: str, options: Mapping[str, str]) -> None:
    """Check the form of the function's name; its module is imported when the job starts.

    Raises:
        OptionError: it is wrong.
    """
    option, name = next(item for item in options.items() if item[0].lower() == "function")
    if _FUNCTION.fullmatch(name) is None:
        message = f"'{label}': function = '{name}' is not of the form module:name"
        raise OptionError(message, option, "value")
