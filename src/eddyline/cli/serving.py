"""The options of ``eddyline run`` for the console, health and metrics over HTTP."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from eddyline.errors import DataError

if TYPE_CHECKING:
    from eddyline.spark.operation.http_server import HttpServer

Address = Annotated[
    str | None,
    typer.Option(
        help="Serve the console, /healthz and /metrics (Prometheus) there; port 0 is any free one. "
        "Addresses that other machines reach need a token, and so does changing queries.",
        metavar="HOST:PORT",
    ),
]
TokenVariable = Annotated[
    str | None,
    typer.Option(
        help="With --http: the environment variable with the token that requests have to send, as "
        "Authorization: Bearer TOKEN.",
        metavar="NAME",
    ),
]
TokenFile = Annotated[
    Path | None,
    typer.Option(help="With --http: the file with the token.", metavar="FILE"),
]
ReadOnly = Annotated[
    bool,
    typer.Option("--http-read-only", help="With --http: queries cannot be changed in the console."),
]


@contextmanager
def http_server(
    address: str | None, variable: str | None, file: Path | None, *, read_only: bool = False
) -> Iterator[HttpServer | None]:
    """Listen at an address while the block runs; None: at none.

    Raises:
        DataError: the token cannot be read, or the address is wrong or needs one.
        StateError: the address cannot be used.
    """
    if address is None:
        if variable is not None or file is not None or read_only:
            raise DataError("options for HTTP are of no use without --http HOST:PORT")
        yield None
        return
    token = _token(variable, file)
    from eddyline.spark.operation.http_server import HttpServer

    with closing(HttpServer(address, token, read_only=read_only)) as server:
        yield server


@contextmanager
def console_server() -> Iterator[HttpServer]:
    """Listen at any free port of this machine, with a new token, while the block runs."""
    from eddyline.spark.operation.http_server import HttpServer

    with closing(HttpServer("127.0.0.1:0", secrets.token_urlsafe(24))) as server:
        yield server


def _token(variable: str | None, file: Path | None) -> str | None:
    if variable is not None and file is not None:
        raise DataError("give --http-token-env or --http-token-file, not both")
    if variable is not None:
        if variable not in os.environ:
            raise DataError(f"there is no environment variable '{variable}' with the token")
        return os.environ[variable]
    if file is None:
        return None
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as e:
        raise DataError(f"the token cannot be read from '{file}': {e}") from None
