"""The options of ``eddyline run`` for health and metrics over HTTP."""

from __future__ import annotations

import os
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
        help="Serve /healthz and /metrics (Prometheus) there; port 0 is any free one. Addresses "
        "that other machines reach need a token.",
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


@contextmanager
def http_server(
    address: str | None, variable: str | None, file: Path | None
) -> Iterator[HttpServer | None]:
    """Listen at an address while the block runs; None: at none.

    Raises:
        DataError: the token cannot be read, or the address is wrong or needs one.
        StateError: the address cannot be used.
    """
    if address is None:
        if variable is not None or file is not None:
            raise DataError("a token for HTTP is of no use without --http HOST:PORT")
        yield None
        return
    token = _token(variable, file)
    from eddyline.spark.operation.http_server import HttpServer

    with closing(HttpServer(address, token)) as server:
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
