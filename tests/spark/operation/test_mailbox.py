"""The mailbox of a job responds to every request, and its thread survives errors."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pyarrow as pa
import pytest

from eddyline import CatalogError, StateError
from eddyline.cli.failures import JobFailedError
from eddyline.cli.mailbox_client import RunningJob
from eddyline.spark.delivery.delivery import Delivery
from eddyline.spark.operation import mailbox as mailbox_module
from eddyline.spark.operation.answers import Answers
from eddyline.spark.operation.mailbox import Mailbox
from eddyline.spark.operation.progress_tracker import ProgressTracker
from eddyline.spark.operation.running_queries import RunningQueries
from eddyline.spark.storage.directory import LocalDirectory
from eddyline.sql.parser import parse

pytestmark = pytest.mark.fault


class FakeQueries:
    """Executes statements, or raises a preset error."""

    def __init__(self) -> None:
        self.queries: dict[str, Any] = {}
        self.fails: Callable[[], None] = lambda: None

    def since(self, name: str) -> str:
        return "2026-01-01T00:00:00+00:00"

    def run(self, sql: str) -> Iterator[tuple[Any, Any]]:
        for statement in parse(sql):
            self.fails()
            yield statement, None


class Served:
    """A served mailbox of a job that runs until it is closed."""

    def __init__(self, directory: Path) -> None:
        self.path = directory / "mailbox"
        self.queries = FakeQueries()
        self.mailbox = Mailbox(
            LocalDirectory(self.path),
            cast(RunningQueries, self.queries),
            ProgressTracker({}),
            cast(Delivery, SimpleNamespace(follow=lambda *_: None, unfollow=lambda *_: None)),
            cast(Answers, SimpleNamespace(ask=self._ask)),
        )
        self.asked: dict[str, Future[pa.Table]] = {}
        self.mailbox.open(lambda: True)
        self.outside = RunningJob(str(directory))
        eventually(lambda: (self.path / "status.json").exists())

    def _ask(self, name: str) -> Future[pa.Table]:
        if name == "none":
            raise CatalogError("there is no query 'none'")
        self.asked[name] = Future()
        return self.asked[name]

    def request(self, name: str, content: bytes) -> dict[str, Any]:
        """Put down a request and take its answer."""
        answer = self.path / "responses" / name
        (self.path / "requests" / f".{name}").write_bytes(content)
        (self.path / "requests" / f".{name}").rename(self.path / "requests" / name)
        eventually(answer.exists)
        assert not (self.path / "requests" / name).exists()
        said: dict[str, Any] = json.loads(answer.read_text())
        return said


def eventually(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.fixture
def served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:
    monkeypatch.setattr(mailbox_module, "_POLL_S", 0.02)
    served = Served(tmp_path)
    yield served
    served.mailbox.close()


def fails_with(error: BaseException) -> Callable[[], None]:
    def fail() -> None:
        raise error

    return fail


def fail_for_tails(patch: pytest.MonkeyPatch, error: BaseException) -> None:
    """Let the directory of tails be one that cannot be listed."""
    names = LocalDirectory.names

    def failing(self: LocalDirectory, directory: str = "", ending: str = "") -> list[str]:
        if directory == "tails":
            raise error
        return names(self, directory, ending)

    patch.setattr(LocalDirectory, "names", failing)


def test_an_unexpected_error_is_in_the_response(served: Served) -> None:
    served.queries.fails = fails_with(KeyError("no such thing"))
    with pytest.raises(
        JobFailedError, match="the request failed in the job: KeyError: 'no such thing'"
    ):
        raise served.outside.execute("DROP QUERY x", 20).error or AssertionError
    served.queries.fails = fails_with(CatalogError("there is no query 'x'"))
    with pytest.raises(CatalogError, match="there is no query 'x'"):
        raise served.outside.execute("DROP QUERY x", 20).error or AssertionError
    served.queries.fails = lambda: None
    assert served.outside.execute("DROP QUERY x; DROP QUERY y", 20).done == ["x", "y"]


def test_an_answer_comes_when_the_job_has_it(served: Served) -> None:
    rows = pa.table({"k": [1, 2]})
    with ThreadPoolExecutor(1) as threads:
        answer = threads.submit(served.outside.answer, "q", 20)
        eventually(lambda: "q" in served.asked)
        assert served.request("2.json", b'{"sql": "DROP QUERY x"}') == {"done": ["x"]}, "meanwhile"
        served.asked["q"].set_result(rows)
        assert answer.result() == rows
    assert [file.name for file in (served.path / "responses").iterdir()] == ["2.json"]


def test_answers_that_do_not_come(served: Served) -> None:
    with pytest.raises(CatalogError, match="there is no query 'none'"):
        served.outside.answer("none", 20)
    with pytest.raises(StateError, match=r"has not answered for query 'slow' within 0\.3 s"):
        served.outside.answer("slow", 0.3)
    assert served.asked["slow"].cancelled()
    with ThreadPoolExecutor(1) as threads:
        answer = threads.submit(served.outside.answer, "wrong", 20)
        eventually(lambda: "wrong" in served.asked)
        served.asked["wrong"].set_exception(StateError("query 'wrong' is set aside"))
        with pytest.raises(StateError, match="query 'wrong' is set aside"):
            answer.result()
        answer = threads.submit(served.outside.answer, "last", 20)
        eventually(lambda: "last" in served.asked)
        served.mailbox.close()
        with pytest.raises(StateError, match="the job has ended"):
            answer.result()
    for request in (b'{"answer": 1, "patience_s": 1}', b'{"answer": "q", "patience_s": "1"}'):
        served.mailbox.open(lambda: True)
        assert "no query as 'answer'" in served.request("3.json", request)["message"]
        (served.path / "responses/3.json").unlink()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "not JSON"),
        (b"{", "not JSON"),
        (b"\xff\xfe", "not JSON"),
        (b"[]", "not a JSON object"),
        (b"{}", "the text of statements as 'sql'"),
        (b'{"sql": 1}', "the text of statements as 'sql'"),
        (b'{"sql": "SELEC"}', "line 1, column 1"),
        (b'{"sql": "DROP QUERY `\\ud800`"}', None),
    ],
)
def test_malformed_requests_get_a_response(
    served: Served, content: bytes, message: str | None
) -> None:
    said = served.request("1.json", content)
    assert message is None or (said["done"] == [] and message in said["message"])
    assert served.request("2.json", b'{"sql": "DROP QUERY x"}') == {"done": ["x"]}


def test_a_directory_among_the_requests_gets_a_response(served: Served) -> None:
    (served.path / "requests/1.json").mkdir()
    eventually((served.path / "responses/1.json").exists)
    assert "Is a directory" in (served.path / "responses/1.json").read_text()
    assert served.request("2.json", b'{"sql": "DROP QUERY x"}') == {"done": ["x"]}


@pytest.mark.parametrize("content", [b"{", b"[]", b"{}", b'{"query": "no such"}', b"\xff"])
def test_malformed_tails_are_deleted(served: Served, content: bytes) -> None:
    (served.path / "tails/.t").mkdir()
    (served.path / "tails/.t/query.json").write_bytes(content)
    (served.path / "tails/.t").rename(served.path / "tails/t")
    eventually(lambda: not (served.path / "tails/t").exists())
    assert served.request("2.json", b'{"sql": "DROP QUERY x"}') == {"done": ["x"]}


def test_a_response_that_cannot_be_written_is_retried(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    replace = LocalDirectory.replace
    failures: list[Any] = []

    def full(self: LocalDirectory, name: str, content: bytes) -> None:
        if name.startswith("responses") and len(failures) < 3:
            failures.append(name)
            raise StateError("No space left on device")
        replace(self, name, content)

    monkeypatch.setattr(LocalDirectory, "replace", full)
    assert served.request("1.json", b'{"sql": "DROP QUERY x"}') == {"done": ["x"]}
    assert len(failures) == 3


def test_problems_are_in_the_status(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    assert served.outside.status().problem is None
    with monkeypatch.context() as patched:
        fail_for_tails(patched, RuntimeError("tails broke"))
        eventually(lambda: served.outside.status().problem == "RuntimeError: tails broke")
    eventually(lambda: served.outside.status().problem is None)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_the_end_of_the_thread_is_in_the_status(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    fail_for_tails(monkeypatch, SystemExit("killed"))
    eventually(lambda: served.outside.status().problem is not None)
    problem = served.outside.status().problem
    assert problem == "requests are not served any more: SystemExit: killed"


def test_requests_from_before_a_restart_are_refused(tmp_path: Path) -> None:
    (tmp_path / "mailbox/requests").mkdir(parents=True)
    (tmp_path / "mailbox/requests/1.json").write_text('{"sql": "DROP QUERY x"}')
    served = Served(tmp_path)
    answer = json.loads((served.path / "responses/1.json").read_text())
    served.mailbox.close()
    assert answer["error"] == "StateError" and "restarted" in answer["message"]


def test_requests_after_the_end_are_refused(served: Served) -> None:
    served.mailbox.close()
    (served.path / "requests/1.json").write_text('{"sql": "DROP QUERY x"}')
    served.mailbox.open(lambda: False)
    eventually((served.path / "responses/1.json").exists)
    assert "the job has ended" in (served.path / "responses/1.json").read_text()
    eventually(lambda: served.outside.status().state == "ended")


@pytest.mark.parametrize("content", ["", "{", "[]", "{}", '{"at": "then", "state": "running"}'])
def test_a_status_that_cannot_be_read_is_named(content: str, tmp_path: Path) -> None:
    (tmp_path / "mailbox").mkdir()
    (tmp_path / "mailbox/status.json").write_text(content)
    with pytest.raises(StateError, match=r"status\.json was not written by a job"):
        RunningJob(str(tmp_path)).status()
