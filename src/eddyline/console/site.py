"""The console's page: its paths and what they return."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Mapping
from html import escape
from http import HTTPStatus
from importlib.resources import files
from typing import Any, Final

import pyarrow as pa

from eddyline.console import parts
from eddyline.console.followed import MOST_ROWS, FollowedQueries
from eddyline.console.markup import count_text, rows_table, tag
from eddyline.console.plan_graph import below
from eddyline.console.plan_svg import plan_svg
from eddyline.console.query_list import ORDERS, QueryList
from eddyline.console.rates import Rates
from eddyline.console.series import plot_svg
from eddyline.console.source import Look, QueryLine, Source
from eddyline.console.web_server import Request, Response
from eddyline.errors import CatalogError, DataError, EddylineError, SqlError
from eddyline.rate_limiter import RateLimiter

#: Shortest time between two looks, and the share of the time that they may take.
_PERIOD_S: Final = 1.0
_SHARE: Final = 0.01
#: Rows of an answer that are shown.
_MOST_ANSWER: Final = 100
#: Answers and plans of queries that are kept.
_MOST_TEXTS: Final = 20
_HTML: Final = "text/html; charset=utf-8"
_JSON: Final = "application/json"
_ASSETS: Final = {
    "/": ("console.html", _HTML),
    "/console.css": ("console.css", "text/css; charset=utf-8"),
    "/console.js": ("console.js", "text/javascript; charset=utf-8"),
}
#: Paths that are the same for all users, and need no token.
PUBLIC: Final = frozenset(_ASSETS)
_SECURITY: Final = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}


class Site:
    """Answers the requests of the page.

    Args:
        source: what is shown.
        can_change: whether queries can be added and dropped.
    """

    def __init__(self, source: Source, *, can_change: bool) -> None:
        self._source = source
        self._can_change = can_change
        self._rates = Rates()
        self._look: Look | None = None
        self._limiter = RateLimiter(_SHARE, of_cpu=True)
        self._queries = QueryList(source)
        self._followed = FollowedQueries(source)
        self._texts: dict[tuple[str, str], tuple[RateLimiter, str]] = {}  # the last ones
        self._lock = threading.Lock()
        self._parts: Mapping[str, Callable[[dict[str, str]], str]] = {
            "/parts/head": lambda _: parts.head_html(self._looked(), self._rates),
            "/parts/plan": self._plan,
            "/parts/streams": lambda _: parts.streams_html(self._looked(), self._rates),
            "/parts/health": lambda _: parts.health_html(self._looked()),
            "/parts/queries": self._queries_part,
            "/parts/query": self._query_part,
            "/parts/changes": self._changes,
            "/parts/explain": lambda p: self._limited("explain", _name(p), self._explain),
            "/parts/answer": lambda p: self._limited("answer", _name(p), self._answer),
        }
        self._actions: Mapping[str, Callable[[str], dict[str, Any]]] = {
            "/check": self._check,
            "/statements": self._run,
        }

    def respond(self, request: Request) -> Response | None:
        """The response; None: the path is none of the console."""
        path = request.path
        if request.method == "GET" and path in _ASSETS:
            name, kind = _ASSETS[path]
            content = (files("eddyline.console") / "assets" / name).read_bytes()
            return Response(HTTPStatus.OK, kind, content, _SECURITY)
        if request.method == "GET" and path == "/settings":
            return _json({"can_change": self._can_change, "kind": self._source.kind})
        if request.method == "GET" and path in self._parts:
            return self._part(self._parts[path], request.parameters)
        if path in self._actions:
            return self._action(request, self._actions[path])
        return None

    def close(self) -> None:
        """Follow no query any more."""
        self._followed.close()

    # -- parts of the page ---------------------------------------------

    def _part(self, make: Callable[[dict[str, str]], str], parameters: dict[str, str]) -> Response:
        status = HTTPStatus.OK
        try:
            text = make(parameters)
        except (EddylineError, TimeoutError) as e:
            status = HTTPStatus.NOT_FOUND if isinstance(e, CatalogError) else HTTPStatus.CONFLICT
            text = tag("p", escape(str(e)), class_="empty")
        return Response(status, _HTML, text.encode(), _SECURITY)

    def _looked(self) -> Look:
        """The last look; a new one if it is due."""
        with self._lock:
            now = time.monotonic()
            if self._look is None or (self._limiter.due and now - self._look.at >= _PERIOD_S):
                with self._limiter.measured():
                    self._look = self._source.look()
                self._rates.forget(now - 120)
            return self._look

    def _plan(self, parameters: dict[str, str]) -> str:
        look, name = self._looked(), parameters.get("query")
        if name is None:
            return plan_svg(look.nodes, self._rates, look.at)
        ends = [end for end, names in look.members.items() if name in names]
        if not ends:
            return tag("p", "Its path is not known yet.", class_="empty")
        return plan_svg(look.nodes, self._rates, look.at, below(look.nodes, ends))

    def _queries_part(self, parameters: dict[str, str]) -> str:
        search, order = parameters.get("search", ""), parameters.get("order", ORDERS[0])
        if order not in ORDERS:
            raise DataError(f"the order is one of {', '.join(ORDERS)}, not '{order}'")
        page = _whole(parameters.get("page", "1"))
        found = self._queries.page(search, order, page)
        at = time.monotonic()
        listed = parts.queries_html(found.lines, self._rates, at, can_change=self._can_change)
        place = f"page {found.page:,} of {found.pages:,}, {count_text(found.total)} queries"
        counts = tag("p", place, class_="pages", data_page=found.page, data_pages=found.pages)
        return counts + listed

    def _query_part(self, parameters: dict[str, str]) -> str:
        name = _name(parameters)
        line = self._line(name)
        at = time.monotonic()
        return parts.query_html(line, self._rates, at, can_change=self._can_change)

    def _line(self, name: str) -> QueryLine:
        lines = self._source.lines([name])
        if not lines:
            raise CatalogError(f"there is no query '{name}'")
        return lines[0]

    def _changes(self, parameters: dict[str, str]) -> str:
        rows, count = self._followed.changes(_name(parameters))
        if rows is None or not rows.num_rows:
            return tag("p", "No changes since you look.", class_="empty")
        newest = rows.slice(max(0, rows.num_rows - MOST_ROWS))
        shown = newest.take(pa.array(range(newest.num_rows - 1, -1, -1))).slice(0, 20)
        head = tag("p", f"{count_text(count)} changes since you look, the newest first")
        return head + plot_svg(newest, ("_exp",)) + rows_table(shown, 20)

    def _limited(self, what: str, name: str, make: Callable[[str], str]) -> str:
        """What is made of a query, or the last text of it if making it takes too much time."""
        with self._lock:
            limiter, text = self._texts.pop((what, name), (RateLimiter(_SHARE, of_cpu=True), ""))
        if limiter.due:
            with limiter.measured():
                text = make(name)
        with self._lock:
            self._texts[what, name] = limiter, text
            while len(self._texts) > _MOST_TEXTS:
                del self._texts[next(iter(self._texts))]
        return text

    def _explain(self, name: str) -> str:
        return tag("pre", escape(self._source.explain(name)))

    def _answer(self, name: str) -> str:
        rows = self._source.answer(name)
        more = rows.num_rows - _MOST_ANSWER
        left = tag("p", f"… and {count_text(more)} more rows", class_="note") if more > 0 else ""
        head = tag("p", f"{count_text(rows.num_rows)} rows")
        return head + plot_svg(rows) + rows_table(rows, _MOST_ANSWER) + left

    # -- changes -------------------------------------------------------

    def _action(self, request: Request, act: Callable[[str], dict[str, Any]]) -> Response:
        if request.method != "POST":
            return Response.text(HTTPStatus.METHOD_NOT_ALLOWED, "send it by POST")
        if not self._can_change:
            return Response.text(HTTPStatus.FORBIDDEN, "this console only shows")
        if not request.is_same_site:
            return Response.text(HTTPStatus.FORBIDDEN, "the request comes from another site")
        if request.headers.get("content-type", "").partition(";")[0].strip() != _JSON:
            return Response.text(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, f"send {_JSON}")
        try:
            fields = json.loads(request.body)
            text = fields["sql"]
            assert isinstance(text, str)
        except (ValueError, TypeError, KeyError, AssertionError):
            problem = "send a JSON object with the statements as 'sql'"
            return Response.text(HTTPStatus.BAD_REQUEST, problem)
        try:
            return _json(act(text))
        except EddylineError as e:
            return _json({"error": _error(e)}, HTTPStatus.UNPROCESSABLE_ENTITY)

    def _check(self, text: str) -> dict[str, Any]:
        self._source.check(text)
        return {"ok": True}

    def _run(self, text: str) -> dict[str, Any]:
        done = self._source.run(text)
        with self._lock:
            self._look = None
        self._queries.forget()
        return {"done": done}


def _error(error: EddylineError) -> dict[str, Any]:
    """An error: the text as the command line prints it, and where the wrong word is."""
    place = error if isinstance(error, SqlError) else None
    return {
        "text": str(error),
        "line": None if place is None else place.line,
        "column": None if place is None else place.column,
    }


def _json(fields: Mapping[str, Any], status: HTTPStatus = HTTPStatus.OK) -> Response:
    return Response(status, _JSON, json.dumps(fields).encode(), _SECURITY)


def _name(parameters: Mapping[str, str]) -> str:
    try:
        return parameters["name"]
    except KeyError:
        raise DataError("the name of the query is missing") from None


def _whole(text: str) -> int:
    if not (text.isascii() and text.isdigit()):
        raise DataError(f"'{text}' is no number of a page")
    return int(text)
