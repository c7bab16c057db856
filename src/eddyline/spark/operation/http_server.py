"""The console of a job, its health and metrics, and answers of its queries, over HTTP."""

from __future__ import annotations

import math
import re
import threading
from collections.abc import Mapping
from http import HTTPStatus
from typing import Final
from urllib.parse import unquote

from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4, generate_latest

from eddyline.console.console import page_url
from eddyline.console.site import PUBLIC, Site
from eddyline.console.web_server import Request, Response, WebServer
from eddyline.errors import CatalogError, DataError, StateError
from eddyline.rate_limiter import RateLimiter
from eddyline.spark.operation.answer_formats import accepted_format, format_named
from eddyline.spark.operation.console_source import JobSource, ShownJob
from eddyline.spark.operation.job_metrics import JobMetrics, WatchedJob

_PATHS: Final = "/ (the console), /healthz, /metrics and /queries/NAME/answer"
_ANSWER: Final = re.compile(r"/queries/([^/]+)/answer")
#: Requests for answers, which wait for a batch, at a time: others are for health and metrics.
_MOST_ANSWERS: Final = 8
#: How long a request for an answer waits: by default, and at most.
_WAIT_S: Final = 30.0
_LONGEST_WAIT_S: Final = 600.0


class HttpServer:
    """Listens from the beginning on; see :class:`WebServer`.

    Args:
        address: ``HOST:PORT``; port 0 is any free one.
        token: what requests have to send as ``Authorization: Bearer TOKEN``. Without one, the
            console shows only.
        read_only: so it does with one.

    Raises:
        DataError, StateError: as of :class:`WebServer`.
    """

    def __init__(self, address: str, token: str | None = None, *, read_only: bool = False) -> None:
        self._job: WatchedJob | None = None
        self._site: Site | None = None
        self._can_change = token is not None and not read_only
        self._token = None if token is None else token.strip()
        self._metrics = b""
        self._limiter = RateLimiter()
        self._answers = threading.BoundedSemaphore(_MOST_ANSWERS)
        self._lock = threading.Lock()
        self._server = WebServer(address, self._respond, token, PUBLIC)

    @property
    def url(self) -> str:
        """Where it listens: ``http://127.0.0.1:8123``."""
        return self._server.url

    @property
    def console_url(self) -> str:
        """The address of the console for a browser, with the token."""
        return page_url(self._server.url, self._token)

    def serve(self, job: ShownJob) -> None:
        """Answer for this job from now on; before it, the job is starting."""
        self._job = job
        self._site = Site(JobSource(job), can_change=self._can_change)

    def close(self) -> None:
        """Stop listening."""
        self._server.close()
        if self._site is not None:
            self._site.close()

    def _respond(self, request: Request) -> Response:
        path = request.path
        if path == "/healthz":
            return self._health()
        if path == "/metrics":
            job = self._job
            if job is None:
                return Response.text(HTTPStatus.SERVICE_UNAVAILABLE, "the job is starting")
            return Response(HTTPStatus.OK, CONTENT_TYPE_PLAIN_0_0_4, self._exposed(job))
        if (matched := _ANSWER.fullmatch(path)) is not None:
            accept = request.headers.get("accept", "")
            return self._answer(unquote(matched[1]), request.parameters, accept)
        if self._site is None and path in PUBLIC:
            text = "the job is starting: load this page again"
            return Response.text(HTTPStatus.SERVICE_UNAVAILABLE, text)
        shown = None if self._site is None else self._site.respond(request)
        if shown is None:
            return Response.text(HTTPStatus.NOT_FOUND, f"there is no '{path}', only {_PATHS}")
        return shown

    def _health(self) -> Response:
        try:
            problem = "the job is starting" if self._job is None else self._job.problem()
        except Exception as e:  # Java has ended, for instance
            problem = f"the state of the job is unknown: {type(e).__name__}: {e}"
        if problem is not None:
            return Response.text(HTTPStatus.SERVICE_UNAVAILABLE, problem)
        assert self._job is not None, "otherwise it is starting"
        waiting = self._job.progress().undelivered.items()
        lines = "\n".join(["ok", *(f"'{n}': {of.text}" for n, of in waiting)])
        return Response.text(HTTPStatus.OK, lines)

    def _answer(self, query: str, parameters: Mapping[str, str], accept: str) -> Response:
        """The answer of a query."""
        health = self._health()
        if health.status != HTTPStatus.OK or self._job is None:
            return health
        if not self._answers.acquire(blocking=False):
            text = f"{_MOST_ANSWERS} answers are being made: ask again"
            return Response.text(HTTPStatus.SERVICE_UNAVAILABLE, text)
        try:
            wait_s = _seconds(parameters.get("timeout", f"{_WAIT_S:g}"))
            named = parameters.get("format")
            form = accepted_format(accept) if named is None else format_named(named)
            content = form.encode(self._job.answer(query, wait_s))
            return Response(HTTPStatus.OK, form.media_type, content)
        except DataError as e:
            return Response.text(HTTPStatus.NOT_ACCEPTABLE, str(e))
        except CatalogError as e:
            return Response.text(HTTPStatus.NOT_FOUND, str(e))
        except StateError as e:
            return Response.text(HTTPStatus.CONFLICT, str(e))
        except TimeoutError as e:
            return Response.text(HTTPStatus.GATEWAY_TIMEOUT, str(e))
        finally:
            self._answers.release()

    def _exposed(self, job: WatchedJob) -> bytes:
        """The metrics; those of the last request while making them takes too much of the time."""
        with self._lock:
            if self._limiter.due:
                with self._limiter.measured():
                    self._metrics = generate_latest(JobMetrics(job))
            return self._metrics


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
