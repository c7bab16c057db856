"""Errors of commands: a message without a stack trace, and an exit code."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import typer

from eddyline.errors import EddylineError, SetupError

JOB_FAILED: Final = 1
BAD_INPUT: Final = 2


class JobFailedError(Exception):
    """The Spark job failed. The message has the cause and the path of the full log."""


@contextmanager
def reported() -> Iterator[None]:
    """Turn errors of the block into a message on standard error and an exit code."""
    try:
        yield
    except (SetupError, JobFailedError) as e:
        raise _exit(e, JOB_FAILED) from None
    except EddylineError as e:
        raise _exit(e, BAD_INPUT) from None


def _exit(error: Exception, code: int) -> typer.Exit:
    typer.secho(f"error: {error}", err=True, fg=typer.colors.RED)
    return typer.Exit(code)
