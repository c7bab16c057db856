"""A small HTTP server: addresses, tokens, limits. What it serves are functions of requests."""

from __future__ import annotations

import errno
import hmac
import ipaddress
import logging
import os
import socket
import threading
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import TCPServer
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

from eddyline.errors import DataError, StateError

#: Requests that are served at a time; further ones are closed unanswered.
_MOST_REQUESTS: Final = 16
#: After this time a client that neither sends nor reads is disconnected.
_TIMEOUT_S: Final = 10.0
_POLL_S: Final = 0.1
#: Maximum size of what a request sends.
_MOST_BYTES: Final = 1 << 20
TEXT: Final = "text/plain; charset=utf-8"

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Request:
    """A request.

    Attributes:
        method: ``GET`` or ``POST``. target: path and query.
        headers: by name in lower case. body: what was posted.
    """

    method: str
    target: str
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""

    @property
    def path(self) -> str:
        """The path, as sent."""
        return urlsplit(self.target).path

    @property
    def parameters(self) -> dict[str, str]:
        """The query, by name; of several values the last."""
        return {k: v[-1] for k, v in parse_qs(urlsplit(self.target).query).items()}

    @property
    def is_same_site(self) -> bool:
        """Whether no page of another site has sent it, by what browsers tell."""
        if self.headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
            return False
        origin = self.headers.get("origin")
        return origin is None or urlsplit(origin).netloc == self.headers.get("host", "")


@dataclass(frozen=True)
class Response:
    """A response: status, media type and content; ``headers``: further ones."""

    status: HTTPStatus
    media_type: str
    content: bytes
    headers: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def text(cls, status: HTTPStatus, text: str) -> Response:
        """A line of plain text."""
        return cls(status, TEXT, f"{text}\n".encode())


class WebServer:
    """Listens from the beginning on, in threads that do not keep the process alive.

    Args:
        address: ``HOST:PORT``; port 0 is any free one.
        respond: called in the thread of each request that may be answered.
        token: what requests have to send as ``Authorization: Bearer TOKEN``.
        public: paths that need no token.

    Raises:
        DataError: the address is none, or it is not a loopback address and there is no token.
        StateError: it cannot be used: the port may be in use.
    """

    def __init__(
        self,
        address: str,
        respond: Callable[[Request], Response],
        token: str | None = None,
        public: Collection[str] = (),
    ) -> None:
        if token is not None and not token.strip():
            raise DataError("the token for HTTP is empty")
        family, host, port = _resolved(address)
        if token is None and not ipaddress.ip_address(host.partition("%")[0]).is_loopback:
            raise DataError(
                f"'{address}' can be reached from other machines: give a token "
                "(token=..., --http-token-env or --http-token-file), or use 127.0.0.1"
            )
        self._name = address.rpartition(":")[0].lower()
        self._token = None if token is None else token.strip().encode()
        self._respond = respond
        self._public = frozenset(public)
        try:
            self._server = _Server(family, (host, port), self.answer)
        except OSError as e:
            raise StateError(f"cannot listen on '{address}': {_cause(e)}") from None
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(_POLL_S,), name="eddyline-http", daemon=True
        )
        self._thread.start()

    @property
    def url(self) -> str:
        """Where it listens: ``http://127.0.0.1:8123``."""
        host, port = self._server.server_address[:2]
        text = host.decode() if isinstance(host, bytes | bytearray) else host
        return f"http://[{text}]:{port}" if ":" in text else f"http://{text}:{port}"

    def close(self) -> None:
        """Stop listening."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def answer(self, request: Request) -> Response:
        """The response to a request, if it may be answered.

        Without a token only one for a loopback address, or for the name that the server was given,
        may: that of a page of another site, whose name leads here, has that name as host.
        """
        headers = request.headers
        if self._token is None:
            host = headers.get("host", "")
            if host and not _is_local(host, self._name):
                text = "without a token only requests for a loopback address are answered"
                return Response.text(HTTPStatus.FORBIDDEN, text)
        elif request.path not in self._public and not self._has_token(headers):
            content = b"the token is missing or wrong\n"
            more = {"WWW-Authenticate": "Bearer"}
            return Response(HTTPStatus.UNAUTHORIZED, TEXT, content, more)
        try:
            return self._respond(request)
        except Exception as e:  # which must not end the server
            _log.warning("the request %s failed", request.target, exc_info=True)
            return Response.text(HTTPStatus.INTERNAL_SERVER_ERROR, f"{type(e).__name__}: {e}")

    def _has_token(self, headers: Mapping[str, str]) -> bool:
        assert self._token is not None, "otherwise none is needed"
        scheme, _, sent = headers.get("authorization", "").partition(" ")
        is_equal = hmac.compare_digest(sent.strip().encode("latin-1"), self._token)
        return is_equal and scheme.lower() == "bearer"


class _Server(ThreadingHTTPServer):
    """Calls a handler in a thread for each of a limited number of requests."""

    daemon_threads = True
    block_on_close = False

    def __init__(
        self, family: int, address: tuple[str, int], answer: Callable[[Request], Response]
    ) -> None:
        self.address_family = family
        self.answer = answer
        self._free = threading.BoundedSemaphore(_MOST_REQUESTS)
        super().__init__(address, _Handler)

    def server_bind(self) -> None:
        """Without the look-up of the host's name, which may take seconds."""
        TCPServer.server_bind(self)
        self.server_name, self.server_port = str(self.server_address[0]), self.server_address[1]

    def process_request(self, request: Any, client_address: Any) -> None:
        """Answer in a thread, or close the connection if there are too many."""
        if not self._free.acquire(blocking=False):
            self.shutdown_request(request)
            return
        try:
            super().process_request(request, client_address)
        except BaseException:  # no thread can be started
            self._free.release()
            raise

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Called in the thread of a request."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._free.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client has disconnected, for instance."""
        _log.debug("a request of %s failed", client_address, exc_info=True)


class _Handler(BaseHTTPRequestHandler):
    """Answers one request per connection."""

    server: _Server
    timeout = _TIMEOUT_S
    server_version = "eddyline"
    sys_version = ""

    def do_GET(self) -> None:
        """Called for GET."""
        self._send(self.server.answer(self._request("GET")))

    def do_HEAD(self) -> None:
        """Called for HEAD."""
        self._send(self.server.answer(self._request("GET")), with_content=False)

    def do_POST(self) -> None:
        """Called for POST."""
        length = self.headers.get("Content-Length", "")
        if not length.isascii() or not length.isdigit() or int(length) > _MOST_BYTES:
            text = f"a request has to send its length, and at most {_MOST_BYTES:,} bytes"
            self._send(Response.text(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, text))
            return
        self._send(self.server.answer(self._request("POST", self.rfile.read(int(length)))))

    def _request(self, method: str, body: bytes = b"") -> Request:
        headers = {name.lower(): value for name, value in self.headers.items()}
        return Request(method, self.path, headers, body)

    def _send(self, response: Response, *, with_content: bool = True) -> None:
        self.send_response(response.status)
        for name, value in {
            "Content-Type": response.media_type,
            "Content-Length": str(len(response.content)),
            **response.headers,
        }.items():
            self.send_header(name, value)
        self.end_headers()
        if with_content:
            self.wfile.write(response.content)

    def log_message(self, format: str, *args: Any) -> None:
        """Requests are not logged."""


def _is_local(host: str, own: str) -> bool:
    """Whether the header ``Host`` names this machine only, or as the address of the server does."""
    try:
        name = urlsplit(f"//{host}").hostname or ""
        if name in ("localhost", own):
            return True
        return ipaddress.ip_address(name.partition("%")[0]).is_loopback
    except ValueError:
        return False


def _resolved(address: str) -> tuple[int, str, int]:
    """Family, IP address and port of an address.

    Raises:
        DataError: it is none.
    """
    host, colon, port = address.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not colon or not host or not (port.isascii() and port.isdigit()) or int(port) > 65_535:
        raise DataError(f"'{address}' is not HOST:PORT, such as 127.0.0.1:9090")
    try:
        family, *_, found = socket.getaddrinfo(host, int(port), type=socket.SOCK_STREAM)[0]
    except (OSError, UnicodeError) as e:
        raise DataError(f"there is no host '{host}': {e}") from None
    return family, str(found[0]), int(port)


def _cause(error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        return "the port is in use; choose another one, or 0 for any that is free"
    if error.errno == errno.EACCES:
        return "this user may not use the port; choose one above 1023, or 0 for any that is free"
    return os.strerror(error.errno) if error.errno else str(error)
