"""Health and metrics of a running job, and answers of its queries, over HTTP."""

from __future__ import annotations

import errno
import hmac
import ipaddress
import logging
import math
import os
import re
import socket
import threading
from collections.abc import Mapping
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import TCPServer
from typing import Any, Final
from urllib.parse import parse_qs, unquote, urlsplit

from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4, generate_latest

from eddyline.errors import CatalogError, DataError, StateError
from eddyline.spark.operation.answer_formats import accepted_format, format_named
from eddyline.spark.operation.job_metrics import JobMetrics, WatchedJob
from eddyline.spark.rate_limiter import RateLimiter

#: Requests that are served at a time; further ones are closed unanswered.
_MOST_REQUESTS: Final = 16
#: After this time a client that neither sends nor reads is disconnected.
_TIMEOUT_S: Final = 10.0
_POLL_S: Final = 0.1
_TEXT: Final = "text/plain; charset=utf-8"
_PATHS: Final = "/healthz, /metrics and /queries/NAME/answer"
_ANSWER: Final = re.compile(r"/queries/([^/]+)/answer")
#: Requests for answers, which wait for a batch, at a time: others are for health and metrics.
_MOST_ANSWERS: Final = 8
#: How long a request for an answer waits: by default, and at most.
_WAIT_S: Final = 30.0
_LONGEST_WAIT_S: Final = 600.0

_log = logging.getLogger(__name__)


class HttpServer:
    """Listens from the beginning on, in threads that do not keep the process alive.

    Args:
        address: ``HOST:PORT``; port 0 is any free one.
        token: what requests have to send as ``Authorization: Bearer TOKEN``.

    Raises:
        DataError: the address is none, or it is not a loopback address and there is no token.
        StateError: it cannot be used: the port may be in use.
    """

    def __init__(self, address: str, token: str | None = None) -> None:
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
        self._job: WatchedJob | None = None
        self._metrics = b""
        self._limiter = RateLimiter()
        self._answers = threading.BoundedSemaphore(_MOST_ANSWERS)
        self._lock = threading.Lock()
        try:
            self._server = _Server(family, (host, port), self)
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

    def serve(self, job: WatchedJob) -> None:
        """Answer for this job from now on; before it, the job is starting."""
        self._job = job

    def close(self) -> None:
        """Stop listening."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def admits(self, authorization: str, host: str = "") -> bool:
        """Whether a request with these headers may be answered.

        Without a token only one for a loopback address, or for the name that the server was given,
        may: that of a page of another site, whose name leads here, has that name as host.
        """
        if self._token is None:
            return not host or _is_local(host, self._name)
        scheme, _, sent = authorization.partition(" ")
        is_equal = hmac.compare_digest(sent.strip().encode("latin-1"), self._token)
        return is_equal and scheme.lower() == "bearer"

    @property
    def has_token(self) -> bool:
        """Whether requests have to send a token."""
        return self._token is not None

    def response(self, target: str, accept: str = "") -> tuple[HTTPStatus, str, bytes]:
        """The response to GET: status, content type and content.

        Args:
            target: path and query. accept: the header of this name.
        """
        parts = urlsplit(target)
        path = parts.path
        if path == "/healthz":
            return self._health()
        if path == "/metrics":
            job = self._job
            if job is None:
                return _text(HTTPStatus.SERVICE_UNAVAILABLE, "the job is starting")
            return HTTPStatus.OK, CONTENT_TYPE_PLAIN_0_0_4, self._exposed(job)
        if (matched := _ANSWER.fullmatch(path)) is not None:
            return self._answer(unquote(matched[1]), parse_qs(parts.query), accept)
        return _text(HTTPStatus.NOT_FOUND, f"there is no '{path}', only {_PATHS}")

    def _health(self) -> tuple[HTTPStatus, str, bytes]:
        try:
            problem = "the job is starting" if self._job is None else self._job.problem()
        except Exception as e:  # Java has ended, for instance
            problem = f"the state of the job is unknown: {type(e).__name__}: {e}"
        if problem is not None:
            return _text(HTTPStatus.SERVICE_UNAVAILABLE, problem)
        assert self._job is not None, "otherwise it is starting"
        waiting = self._job.progress().undelivered.items()
        return _text(HTTPStatus.OK, "\n".join(["ok", *(f"'{n}': {of.text}" for n, of in waiting)]))

    def _answer(
        self, query: str, parameters: Mapping[str, list[str]], accept: str
    ) -> tuple[HTTPStatus, str, bytes]:
        """The answer of a query."""
        status, kind, problem = self._health()
        if status != HTTPStatus.OK or self._job is None:
            return status, kind, problem
        if not self._answers.acquire(blocking=False):
            return _text(
                HTTPStatus.SERVICE_UNAVAILABLE, f"{_MOST_ANSWERS} answers are being made: ask again"
            )
        try:
            wait_s = _seconds(parameters.get("timeout", [f"{_WAIT_S:g}"])[-1])
            named = parameters.get("format")
            form = accepted_format(accept) if named is None else format_named(named[-1])
            return HTTPStatus.OK, form.media_type, form.encode(self._job.answer(query, wait_s))
        except DataError as e:
            return _text(HTTPStatus.NOT_ACCEPTABLE, str(e))
        except CatalogError as e:
            return _text(HTTPStatus.NOT_FOUND, str(e))
        except StateError as e:
            return _text(HTTPStatus.CONFLICT, str(e))
        except TimeoutError as e:
            return _text(HTTPStatus.GATEWAY_TIMEOUT, str(e))
        finally:
            self._answers.release()

    def _exposed(self, job: WatchedJob) -> bytes:
        """The metrics; those of the last request while making them takes too much of the time."""
        with self._lock:
            if self._limiter.due:
                with self._limiter.measured():
                    self._metrics = generate_latest(JobMetrics(job))
            return self._metrics


class _Server(ThreadingHTTPServer):
    """Calls a handler in a thread for each of a limited number of requests."""

    daemon_threads = True
    block_on_close = False

    def __init__(self, family: int, address: tuple[str, int], answers: HttpServer) -> None:
        self.address_family = family
        self.answers = answers
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
        self._answer()

    def do_HEAD(self) -> None:
        """Called for HEAD."""
        self._answer(with_content=False)

    def _answer(self, *, with_content: bool = True) -> None:
        answers = self.server.answers
        more: dict[str, str] = {}
        admitted = answers.admits(
            self.headers.get("Authorization", ""), self.headers.get("Host", "")
        )
        if not admitted and not answers.has_token:
            text = "without a token only requests for a loopback address are answered"
            status, kind, content = _text(HTTPStatus.FORBIDDEN, text)
        elif not admitted:
            status, kind, content = _text(HTTPStatus.UNAUTHORIZED, "the token is missing or wrong")
            more["WWW-Authenticate"] = "Bearer"
        else:
            try:
                accept = self.headers.get("Accept", "")
                status, kind, content = answers.response(self.path, accept)
            except Exception as e:  # which must not end the server
                _log.warning("the request %s failed", self.path, exc_info=True)
                text = f"{type(e).__name__}: {e}"
                status, kind, content = _text(HTTPStatus.INTERNAL_SERVER_ERROR, text)
        self.send_response(status)
        for name, value in {
            "Content-Type": kind,
            "Content-Length": str(len(content)),
            **more,
        }.items():
            self.send_header(name, value)
        self.end_headers()
        if with_content:
            self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:
        """Requests are not logged."""


def _text(status: HTTPStatus, text: str) -> tuple[HTTPStatus, str, bytes]:
    return status, _TEXT, f"{text}\n".encode()


def _is_local(host: str, own: str) -> bool:
    """Whether the header ``Host`` names this machine only, or as the address of the server does."""
    try:
        name = urlsplit(f"//{host}").hostname or ""
        if name in ("localhost", own):
            return True
        return ipaddress.ip_address(name.partition("%")[0]).is_loopback
    except ValueError:
        return False


def _seconds(text: str) -> float:
    """A time to wait.

    Raises:
        DataError: it is none.
    """
    try:
        found = float(text)
    except ValueError:
        found = math.nan
    if not 0 < found <= _LONGEST_WAIT_S:
        raise DataError(f"timeout = '{text}' is no number of seconds up to {_LONGEST_WAIT_S:g}")
    return found


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
