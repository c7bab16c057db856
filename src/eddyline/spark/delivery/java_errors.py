r"""Errors of Java in ``foreachBatch`` that Spark can report.

Spark looks for an interruption in the text of an error of Py4J, with the regular expression
``Py4JJavaError: An error occurred while calling((.|\r\n|\r|\n)*)(...)``
(``StreamExecution.isInterruptionException``). Java matches that by recursion, some frames for each
character; a text with a stack trace of Java overflows the stack of the stream's thread. Then the
thread ends without a report, and the query seems to run for ever.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from typing import Any, Final

from py4j.protocol import Py4JJavaError
from pyspark.sql import DataFrame

#: Spark recognises an interruption by it.
_BEGIN: Final = "py4j.protocol.Py4JJavaError: An error occurred while calling Java"
#: Characters of an error, and errors of a chain: with ten times as many the stack overflows.
_MOST_CHARACTERS: Final = 200
_MOST_CAUSES: Final = 4
_log = logging.getLogger(__name__)


class JavaError(RuntimeError):
    """Errors of Java, the root cause last, without stack traces."""


def with_short_errors(
    deliver: Callable[[DataFrame, int], None],
) -> Callable[[DataFrame, int], None]:
    """The function for ``foreachBatch``; errors of Java are logged as they are, and raised as a
    :class:`JavaError`.
    """

    def call(batch: DataFrame, batch_id: int) -> None:
        try:
            deliver(batch, batch_id)
        except Exception as e:  # those of Java are raised with their text
            found = next(_of_java(e), None)
            if found is None:
                raise
            _log.error("batch %s: %s", batch_id, e)
            raise JavaError("\n".join([_BEGIN, *_causes(found.java_exception)])) from None

    return call


def _of_java(error: BaseException | None) -> Iterator[Py4JJavaError]:
    """Those among an error and the ones behind it, which are in the text of its traceback, too."""
    while error is not None:
        if isinstance(error, Py4JJavaError):
            yield error
        error = error.__cause__ or error.__context__


def _causes(error: Any) -> list[str]:
    """An exception of Java and its causes, a line of each; the last ones if there are many."""
    found = []
    while error is not None:
        found.append(" ".join(str(error.toString()).split())[:_MOST_CHARACTERS])
        error = error.getCause()
    return found[-_MOST_CAUSES:]
