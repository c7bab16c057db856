"""Wrong scripts: what ``eddyline check`` says of them, and that ``eddyline run`` says the same."""

from __future__ import annotations

import re
from concurrent.futures import Future
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner

from eddyline.cli.job import Job, run_job
from eddyline.cli.main import app
from eddyline.cli.starting import StartingSpark
from eddyline.cli.view import make_view
from eddyline.errors import EddylineError
from golden import check_golden, questions
from wrong_scripts import WRONG_SCRIPTS, script_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "in").mkdir()
    monkeypatch.chdir(tmp_path)


def check(script: str) -> tuple[int, str]:
    """Exit code, and the errors and warnings of ``eddyline check``."""
    file = Path("script.sql")
    file.write_text(script)
    result = CliRunner().invoke(app, ["check", str(file)])
    found = re.findall(r"^(?:error|script\.sql: warning): .*", result.output, re.MULTILINE)
    found = [re.sub(r"nearest of \d+: .*", "nearest: ...", line) for line in found]  # of many
    lines = (line for line in found if "the connector for Kafka is not here" not in line)
    return result.exit_code, "\n".join(lines).replace(str(Path.cwd()), "DIR")


def test_messages() -> None:
    def message(case: str) -> str:
        code, found = check(script_of(case))
        assert found and code == (2 if found.startswith("error") else 0), case
        return found

    check_golden(WRONG_SCRIPTS, message)


def test_run_finds_the_same_before_spark_is_needed() -> None:
    spark: Future[SparkSession] = Future()
    spark.set_exception(AssertionError("Spark is needed"))
    errors = 0
    for case in questions(WRONG_SCRIPTS):
        code, found = check(script_of(case))
        if code != 2:
            continue
        with pytest.raises(EddylineError) as caught:
            run_job(
                Job(Path("script.sql")), make_view(as_json=True), StartingSpark(spark, Path("log"))
            )
        said = f"error: {caught.value}".splitlines()[0]
        assert re.sub(r"nearest of \d+: .*", "nearest: ...", said) == found
        errors += 1
    assert errors > 60
