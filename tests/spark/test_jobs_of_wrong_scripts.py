"""What ``eddyline check`` warns of because it is missing here is what a job fails with."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from eddyline.cli.scripts import runnable, warnings
from eddyline.errors import EddylineError
from eddyline.spark import Session
from golden import cases
from wrong_scripts import WRONG_SCRIPTS, script_of


def test_what_is_missing_here(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in").mkdir()
    warned = [case for case, expected in cases(WRONG_SCRIPTS) if "warning: " in expected]
    for case in warned:
        script = script_of(case)
        (tmp_path / "script.sql").write_text(script)
        (sentence,) = warnings(runnable(tmp_path / "script.sql"), tmp_path)
        session = Session(spark, base=tmp_path)
        session.sql(script)
        with pytest.raises(EddylineError) as caught:
            session.start(available_now=True)
        assert str(caught.value).startswith(sentence.removesuffix(" here")), case
    assert len(warned) > 3
