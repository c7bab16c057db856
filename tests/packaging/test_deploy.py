"""Files for Docker, for GitHub: valid, and true of this source; without Docker."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from dockerfile_parse import DockerfileParser
from ruamel.yaml import YAML
from typer.testing import CliRunner

from eddyline.cli.main import app

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"


@pytest.fixture(scope="module")
def instructions() -> list[tuple[str, str]]:
    """Of the Dockerfile: names and values."""
    with (DEPLOY / "Dockerfile").open("rb") as file:
        parsed = DockerfileParser(fileobj=file).structure
    return [(i["instruction"], i["value"]) for i in parsed if i["instruction"] != "COMMENT"]


def values(instructions: list[tuple[str, str]], name: str) -> list[str]:
    return [value for instruction, value in instructions if instruction == name]


def compose() -> dict[str, Any]:
    found: dict[str, Any] = YAML(typ="safe").load(DEPLOY / "compose.yaml")
    return found


def test_the_image_follows_the_usual_rules(instructions: list[tuple[str, str]]) -> None:
    (base,) = values(instructions, "FROM")
    image, _, tag = base.partition(":")
    assert image == "python" and re.match(r"3\.1\d-slim-\w+$", tag), "a tag that says what it is"
    for run in values(instructions, "RUN"):
        if "apt-get install" in run:
            assert "apt-get update" in run and "--no-install-recommends" in run
            assert "rm -rf /var/lib/apt/lists" in run
        if "pip install" in run:
            assert "--no-cache-dir" in run
        assert "sudo" not in run and "curl" not in run
    assert values(instructions, "USER")[-1] not in ("root", "0")
    assert not values(instructions, "ADD")
    for name in ("ENTRYPOINT", "CMD"):
        (value,) = values(instructions, name)
        assert isinstance(json.loads(value), list), "without a shell, so that it gets signals"
    assert all(path.startswith("/") for path in values(instructions, "WORKDIR"))


def test_the_image_has_the_versions_that_are_needed(instructions: list[tuple[str, str]]) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    python = re.search(r"python:(\d+\.\d+)", values(instructions, "FROM")[0])
    assert python and f">={python[1]}" == project["requires-python"]
    text = " ".join(values(instructions, "RUN"))
    java = re.search(r"openjdk-(\d+)-jre", text)
    assert java and int(java[1]) >= 17
    extras = re.search(r"'\.\[([\w,]+)\]'", text)
    assert extras and {*extras[1].split(",")} <= {*project["optional-dependencies"]}


def test_the_package_is_built_from_what_the_image_copies(
    instructions: list[tuple[str, str]], tmp_path: Path
) -> None:
    for copy in values(instructions, "COPY"):
        *sources, target = shlex.split(copy)
        for source in sources:
            place = tmp_path / target / (Path(source).name if target.endswith("./") else "")
            if (ROOT / source).is_dir():
                unwanted = shutil.ignore_patterns("__pycache__")
                shutil.copytree(ROOT / source, tmp_path / target, ignore=unwanted)
            else:
                shutil.copy(ROOT / source, place)
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel"]
    done = subprocess.run(build, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert list((tmp_path / "dist").glob("*.whl"))


def test_commands_of_the_image_exist(instructions: list[tuple[str, str]]) -> None:
    runs = [c.strip() for run in values(instructions, "RUN") for c in run.split("&&")]
    commands = [shlex.split(c)[1:] for c in runs if c.startswith("eddyline ")]
    assert json.loads(values(instructions, "ENTRYPOINT")[0]) == ["eddyline"]
    commands.append(json.loads(values(instructions, "CMD")[0]))
    assert len(commands) == 3
    for command in commands:
        assert CliRunner().invoke(app, [*command, "--help"]).exit_code == 0, command


@pytest.mark.parametrize(
    ("schema", "files"),
    [
        ("vendor.compose-spec", ["deploy/compose.yaml"]),
        ("vendor.github-workflows", [".github/workflows/check.yml"]),
        (
            "vendor.github-issue-forms",
            [".github/ISSUE_TEMPLATE/bug.yml", ".github/ISSUE_TEMPLATE/wish.yml"],
        ),
        ("vendor.github-issue-config", [".github/ISSUE_TEMPLATE/config.yml"]),
    ],
)
def test_yaml_fits_its_schema(schema: str, files: list[str]) -> None:
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema, *files]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_services_fit_each_other() -> None:
    services = compose()["services"]
    for service in services.values():
        assert {*service.get("depends_on", {})} <= {*services}
        assert ":" in service["image"] or "build" in service, "no image without a tag"
        for port in service.get("ports", ()):
            assert port.startswith("127.0.0.1:")
        for volume in service.get("volumes", ()):
            source = volume.partition(":")[0]
            known = (
                (DEPLOY / source).is_file() if source[0] == "." else source in compose()["volumes"]
            )
            assert known, volume
    assert (ROOT / "deploy" / services["eddyline"]["build"]["context"]).resolve() == ROOT
    script = (DEPLOY / "orders.sql").read_text()
    needed = {*re.findall(r"password_env = '(\w+)'", script), "HTTP_TOKEN"}
    assert needed <= {*services["eddyline"]["environment"]}
    hosts = {*re.findall(r"servers = '(\w+):9092'", script), *re.findall(r"host = '(\w+)'", script)}
    assert hosts == {"kafka", "postgres"}
    topics = re.findall(r"(?:subscribe|topic) = '(\w+)'", script)
    assert all(topic in services["topics"]["command"][0] for topic in topics)


def test_the_script_is_valid() -> None:
    environment = {"DB_PASSWORD": "x"}
    done = CliRunner().invoke(app, ["check", str(DEPLOY / "orders.sql")], env=environment)
    assert done.exit_code == 0, done.output
    assert "1 stream, 0 tables, 2 queries in 1 group" in done.output
