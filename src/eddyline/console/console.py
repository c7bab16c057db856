"""A console at an address."""

from __future__ import annotations

import secrets
from html import escape
from http import HTTPStatus
from urllib.parse import quote

from eddyline.console.site import PUBLIC, Site
from eddyline.console.source import Source
from eddyline.console.web_server import Request, Response, WebServer


class Console:
    """Serves the page until it is closed; as a context manager, until the end of the block.

    Args:
        source: what is shown.
        address: ``HOST:PORT``; port 0 is any free one.
        token: what requests have to send. None: one is made, or none is needed if ``read_only``.
        read_only: queries cannot be added and dropped.

    Raises:
        DataError: the address is none, or needs a token.
        StateError: it cannot be used: the port may be in use.
    """

    def __init__(
        self,
        source: Source,
        address: str = "127.0.0.1:0",
        *,
        token: str | None = None,
        read_only: bool = False,
    ) -> None:
        if token is None and not read_only:
            token = secrets.token_urlsafe(24)
        self._token = token
        self._site = Site(source, can_change=not read_only)
        self._server = WebServer(address, self._respond, token, PUBLIC)

    @property
    def url(self) -> str:
        """The address for a browser, with the token, which browsers do not send to the server:
        the page does.
        """
        return page_url(self._server.url, self._token)

    def close(self) -> None:
        """End it."""
        self._server.close()
        self._site.close()

    def __enter__(self) -> Console:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _respond(self, request: Request) -> Response:
        response = self._site.respond(request)
        if response is None:
            return Response.text(HTTPStatus.NOT_FOUND, f"there is no '{request.path}'")
        return response

    def __repr__(self) -> str:
        return f"Console({self._server.url})"

    def _repr_html_(self) -> str:
        """For notebooks: a link."""
        return f'<a href="{escape(self.url)}" target="_blank" rel="noopener">console</a>'


def page_url(address: str, token: str | None) -> str:
    """The address of the page, with the token."""
    return f"{address}/" if token is None else f"{address}/#token={quote(token, safe='')}"
