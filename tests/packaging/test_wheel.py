"""The wheel and the source distribution: what they hold, and that the wheel works by itself."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
import venv
import zipfile
from collections.abc import Iterable, Iterator
from email.parser import Parser
from importlib.metadata import distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement

import eddyline

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with the wheel and the source distribution."""
    directory = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "hatchling", "build", "-d", str(directory), cwd=ROOT)
    return directory


@pytest.fixture(scope="module")
def python(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of a new environment with the wheel and its dependencies, nothing else."""
    return environment(tmp_path_factory.mktemp("environment"), built)


def environment(directory: Path, built: Path, *extras: str) -> Path:
    """The interpreter of a new environment with the wheel and what it needs with these extras."""
    venv.create(directory, with_pip=False, symlinks=True)
    (packages,) = directory.glob("lib/python*/site-packages")
    with zipfile.ZipFile(wheel(built)) as file:
        file.extractall(packages)
    for path in installed(requirements(built), extras):
        if not (packages / path.name).exists():  # packages share folders, such as `google`
            (packages / path.name).symlink_to(path)
    return directory / "bin" / "python"


def run(*command: str, cwd: Path, code: int = 0) -> str:
    settings = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        command, cwd=cwd, capture_output=True, text=True, check=False, env=settings
    )
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


def wheel(built: Path) -> Path:
    (found,) = built.glob("*.whl")
    return found


def metadata(built: Path) -> str:
    with zipfile.ZipFile(wheel(built)) as file:
        (name,) = (n for n in file.namelist() if n.endswith(".dist-info/METADATA"))
        return file.read(name).decode()


def requirements(built: Path) -> list[str]:
    return Parser().parsestr(metadata(built)).get_all("Requires-Dist") or []


def installed(
    requires: list[str], extras: Iterable[str] = (), seen: set[str] | None = None
) -> Iterator[Path]:
    """Files and directories of the packages that are required with these extras."""
    seen = set() if seen is None else seen
    for requirement in map(Requirement, requires):
        name, marker = requirement.name.lower(), requirement.marker
        wanted = marker is None or any(marker.evaluate({"extra": e}) for e in ("", *extras))
        if name in seen or not wanted:
            continue
        seen.add(name)
        package = distribution(name)
        tops = {file.parts[0] for file in package.files or ()} - {"..", "__pycache__"}
        yield from (Path(str(package.locate_file(top))) for top in sorted(tops))
        yield from installed(package.requires or [], requirement.extras, seen)


def test_the_wheel_holds_the_product_only(built: Path) -> None:
    with zipfile.ZipFile(wheel(built)) as file:
        names = file.namelist()
        package = [info for info in file.infolist() if info.filename.startswith("eddyline/")]
    folders = {n.split("/")[1] for n in names if n.startswith("eddyline/") and n.count("/") > 1}
    assert {"engine", "spark", "cli", "sql", "runtime", "kernels"} <= folders
    assert not {"bench", "docs", "testing"} & folders
    assert "eddyline/py.typed" in names
    assert {f"eddyline/console/assets/console.{kind}" for kind in ("html", "css", "js")} <= {*names}
    assert "eddyline/spark/log4j2.properties" in names
    data = [info for info in package if not info.filename.endswith(".py")]
    demo = [info for info in data if info.filename.startswith("eddyline/examples/")]
    assert {"demo.sql", "2013-01.parquet", "airlines.parquet"} <= {
        Path(info.filename).name for info in demo
    }
    assert sum(info.file_size for info in demo) < 700_000
    assert sum(info.file_size for info in data) - sum(info.file_size for info in demo) < 100_000


def test_the_source_distribution_holds_tests_and_examples(built: Path) -> None:
    (source,) = built.glob("*.tar.gz")
    with tarfile.open(source) as file:
        names = {name.partition("/")[2] for name in file.getnames()}
    assert {"pyproject.toml", "README.md", "LICENSE", "NOTICE", "examples/demo.sql"} <= names
    assert "tests/packaging/test_wheel.py" in names
    assert "src/eddyline/bench/micro.py" in names


def test_version_and_dependencies_of_the_embedded_engine(built: Path) -> None:
    assert f"\nVersion: {eddyline.__version__}\n" in metadata(built)
    always = {Requirement(r).name for r in requirements(built) if "extra ==" not in r}
    assert always == {"pyarrow", "numpy", "numba", "sqlglot", "typer", "rich"}


def test_the_example_of_the_readme_runs_from_the_wheel(python: Path, tmp_path: Path) -> None:
    first = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)[0]
    checks = 'assert changes["big"]["x"].to_pylist() == [2]\nprint(eddyline.__file__)'
    (tmp_path / "example.py").write_text(first + checks)
    where = Path(run(str(python), "example.py", cwd=tmp_path).splitlines()[-1])
    assert where.is_relative_to(python.parents[1])


PANDAS_FUNCTION = """
import eddyline
eddyline.Engine().function("f", abs, args=["INT"], returns="INT", kind="pandas")
"""


@pytest.mark.parametrize(
    ("code", "package", "extra"),
    [
        ("from eddyline.spark import Session", "pyspark", "spark"),
        (PANDAS_FUNCTION, "pandas", "spark"),
    ],
)
def test_what_needs_an_extra_names_it(
    python: Path, tmp_path: Path, code: str, package: str, extra: str
) -> None:
    message = f"the package {package} is not installed: pip install 'eddyline[{extra}]'"
    assert message in run(str(python), "-c", code, cwd=tmp_path, code=1)


def demo(python: Path, working: Path) -> str:
    """What the demo prints, in one line."""
    start = "from eddyline.__main__ import main; main()"
    return " ".join(run(str(python), "-c", start, "demo", cwd=working).split())


@pytest.mark.long
def test_the_demo_runs_without_spark(python: Path, tmp_path: Path) -> None:
    shown = demo(python, tmp_path)
    assert "10 queries watch them, in this process" in shown
    assert "Within minutes B6 left for MCO from Newark (527)" in shown
    assert "bad rows are flights that were cancelled" in shown


@pytest.mark.long
def test_kernels_are_compiled_without_spark(python: Path, tmp_path: Path) -> None:
    start = "from eddyline.__main__ import main; main()"
    shown = run(str(python), "-c", start, "prepare", cwd=tmp_path)
    assert re.search(r"[1-9]\d+ kernels compiled", shown)
    assert "PySpark is not installed: there are no classes to archive" in shown
    assert "compiling kernels" not in demo(python, tmp_path)


@pytest.mark.long
@pytest.mark.spark
def test_the_demo_runs_from_the_wheel(built: Path, tmp_path: Path) -> None:
    python = environment(tmp_path / "environment", built, "spark")
    shown = demo(python, tmp_path)
    assert "10 queries watch them, in one Spark job" in shown
    assert "departures from New York, 2013-01" in shown
    assert "Within minutes B6 left for MCO from Newark (527)" in shown
    assert "bad rows are flights that were cancelled" in shown
    assert shown.partition("The queries: ")[2].startswith("environment/lib/")


def test_the_wheel_has_the_demo(python: Path, tmp_path: Path) -> None:
    code = "from eddyline.shipped import examples; print(examples())"
    place = Path(run(str(python), "-c", code, cwd=tmp_path).strip())
    assert place.is_relative_to(python.parents[1])
    files = sorted(str(f.relative_to(place / "data")) for f in place.rglob("*.parquet"))
    assert len([f for f in files if f.startswith("flights/")]) == 3
    assert len([f for f in files if f.startswith("connections/")]) == 4
