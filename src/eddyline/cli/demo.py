"""The demo's script and data, with file times that give the order of playback."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from eddyline.shipped import examples

if TYPE_CHECKING:
    from eddyline.cli.view import JobView
    from eddyline.spark.operation.http_server import HttpServer

#: Java's second compiler (C2) makes faster code, which a job of half a minute does not gain back.
_QUICK_START: Final = {"spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1"}


def demo_on_spark(server: HttpServer | None, *, as_json: bool) -> None:
    """Run the demo as a job on Spark; with a server for the console until it is interrupted."""
    from eddyline.cli.starting import starting_spark

    with staged_demo() as script, starting_spark(properties=_QUICK_START) as spark:
        view = make_demo_view("in one Spark job", as_json=as_json)
        from eddyline.cli.job import Job, run_job  # takes a second

        if server is not None:
            view.place("console", server.console_url)
        job = Job(script, once=server is None, input_ends=server is None, http=server)
        run_job(job, view, spark)


def embedded_demo(*, console: bool, as_json: bool) -> None:
    """Run the demo in this process; with the console until it is interrupted."""
    from eddyline.cli.demo_here import DemoHere

    view = make_demo_view("in this process", as_json=as_json)
    DemoHere(examples() / "demo.sql", view).run(console=console)


@contextmanager
def staged_demo() -> Iterator[Path]:
    """The script in a temporary copy of the examples, which exists during the block.

    Spark reads files in the order of their modification times, which are arbitrary after a checkout
    or an install. In the copy they follow the names, which are dates.
    """
    source = examples()
    with tempfile.TemporaryDirectory(prefix="eddyline-demo-") as directory:
        target = Path(directory) / "examples"
        shutil.copytree(source, target)
        for second, file in enumerate(sorted(target.rglob("*.parquet"))):
            os.utime(file, (second, second))
        yield target / "demo.sql"


def make_demo_view(where: str, *, as_json: bool) -> JobView:
    """The view for standard output; ``where``: what runs the queries."""
    from rich.console import Console  # see starting.py

    from eddyline.cli.demo_view import DemoView
    from eddyline.cli.view import JsonView

    if as_json:
        return JsonView()
    script = examples() / "demo.sql"
    working = Path.cwd()
    shown = script.relative_to(working) if script.is_relative_to(working) else script
    return DemoView(Console(highlight=False), shown, _months(script.parent), where)


def _months(place: Path) -> str:
    """The months of the departures; a wheel has one."""
    months = sorted(file.stem for file in (place / "data/flights/newark").glob("*.parquet"))
    return months[0] if len(months) == 1 else f"{months[0]} to {months[-1]}"
