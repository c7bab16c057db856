"""The sink ``webhook``: the rows of a batch are one POST, a JSON array."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from http import HTTPStatus
from http.client import HTTPException
from typing import Any, Final
from urllib.error import HTTPError, URLError
from urllib.parse import quote, urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from eddyline.engine.query import Query
from eddyline.errors import DataError
from eddyline.spark.exchange.query_rows import QueryRows
from eddyline.spark.formats.format_options import OptionError
from eddyline.spark.formats.text_encoders import json_encoder
from eddyline.spark.sinks.failure_policy import RefusedError, UnavailableError
from eddyline.spark.sinks.sink_bases import OwnedSink, Target, named_rows, named_schema
from eddyline.spark.sinks.table_modes import wrong_option

_TIMEOUT_S: Final = "10"
#: Further attempts may succeed.
_TEMPORARY: Final = (
    HTTPStatus.REQUEST_TIMEOUT,
    HTTPStatus.TOO_EARLY,
    HTTPStatus.TOO_MANY_REQUESTS,
)
#: Requests are in ASCII, and a blank or control character ends their first line.
_NOT_IN_URLS: Final = re.compile(r"[^\x21-\x7e]")
#: Number of characters of an answer that a message shows.
_SHOWN: Final = 200


class _NoRedirects(HTTPRedirectHandler):
    """A redirected POST would become a GET without the rows."""

    def redirect_request(self, *request: Any) -> None:
        """Do not follow."""


_OPENER: Final = build_opener(_NoRedirects)


@dataclass(eq=False)
class WebhookSink(OwnedSink):
    """A server that gets batches by POST.

    Attributes:
        job: identifies the job.
    """

    is_remote = True
    job: str
    url: str
    timeout_s: float

    def deliver(
        self,
        batch_id: int,
        parts: Sequence[QueryRows],
        counts: Mapping[str, int],
        emptied: Sequence[str] = (),
    ) -> None:
        """Send the rows of a batch; a repeated batch is sent again, with the same key.

        Raises:
            UnavailableError: there is no answer, or the server asks to try later.
            RefusedError: the server refuses the rows.
        """
        rows = named_rows(self.owner, parts)
        if not rows.num_rows:
            return
        encode = json_encoder({}, rows.schema)
        assert encode is not None, "checked"
        lines = encode(rows).strip(b"\n")
        headers = {
            "Content-Type": "application/json",
            "User-Agent": "eddyline",
            "Idempotency-Key": f"{self.job}-{quote(self.owner.label)}-{batch_id}",
        }
        content = b"[" + lines.replace(b"\n", b",\n") + b"]"
        self._within_limit(Request(self.url, content, headers, method="POST"))

    def _within_limit(self, request: Request) -> None:
        """Send a request. The timeout of its socket applies to each step (to each address of the
        server, to each piece of the answer); the batch waits no longer than that for all of them.
        """
        sent = Future[None]()

        def send() -> None:
            try:
                self._post(request)
            except DataError as e:
                sent.set_exception(e)
            else:
                sent.set_result(None)

        threading.Thread(target=send, name="eddyline-webhook", daemon=True).start()
        try:
            sent.result(self.timeout_s)
        except TimeoutError:
            message = f"'{self.owner.label}': sink 'webhook': no answer: timed out"
            raise UnavailableError(message) from None

    def _post(self, request: Request) -> None:
        what = f"'{self.owner.label}': sink 'webhook'"
        try:
            with _OPENER.open(request, timeout=self.timeout_s):
                return
        except HTTPError as e:
            with e:
                text = " ".join(e.read(_SHOWN).decode(errors="replace").split())
            message = f"{what}: the server answers {e.code} {e.reason}: {text}".rstrip(": ")
            if e.code in _TEMPORARY or e.code >= HTTPStatus.INTERNAL_SERVER_ERROR:
                raise UnavailableError(message) from None
            raise RefusedError(message) from None
        except (URLError, HTTPException, OSError) as e:
            reason = e.reason if isinstance(e, URLError) else e
            raise UnavailableError(f"{what}: no answer: {reason}") from None


def webhook_sink(target: Target, options: Mapping[str, str], job: str) -> WebhookSink:
    """The sink of a target.

    Raises:
        DataError: a type has no form in JSON, or there is no such environment variable.
    """
    if json_encoder({}, named_schema(target)) is None:
        raise DataError(f"'{target.label}': sink 'webhook': nested and binary columns are not sent")
    url = options.get("url") or os.environ.get(options["url_env"])
    if url is None:
        variable = options["url_env"]
        raise DataError(f"'{target.label}': url_env: there is no environment variable '{variable}'")
    _require_url(target.label, url, "url" if "url" in options else "url_env")
    return WebhookSink(target, job, url, float(options.get("timeout", _TIMEOUT_S)))


def check_webhook(label: str, options: Mapping[str, str]) -> None:
    """Check the values of options.

    Raises:
        OptionError: a value is wrong.
    """
    if "url" in options:
        _require_url(label, options["url"], "url")
    try:
        is_positive = 0 < float(options.get("timeout", _TIMEOUT_S)) < float("inf")
    except ValueError:
        is_positive = False
    if not is_positive:
        message = f"'{label}': timeout = '{options['timeout']}' is not a number of seconds"
        raise OptionError(message, "timeout", "value")


def check_webhook_query(query: Query) -> None:
    """Check that JSON has the types of a query.

    Raises:
        OptionError: it has not.
    """
    if json_encoder({}, query.change_schema) is None:
        message = "sink 'webhook': nested and binary columns, and intervals, are not sent"
        raise wrong_option(query, "sink", message)


def _require_url(label: str, url: str, option: str) -> None:
    if not _is_url(url):
        message = f"'{label}': {option} is not of the form https://host/path"
        raise OptionError(message, option, "value")


def _is_url(url: str) -> bool:
    """Whether a request can be sent there; spaces and line ends would be further headers."""
    try:
        parts = urlsplit(url)
        has_host = parts.scheme in ("http", "https") and bool(parts.hostname)
        return has_host and parts.port != 0 and _NOT_IN_URLS.search(url) is None
    except ValueError:  # of the port, or of brackets
        return False
