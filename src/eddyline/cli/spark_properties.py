"""Options of commands for the configuration of Spark, as those of ``spark-submit``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

Master = Annotated[
    str | None,
    typer.Option(
        help="Where Spark runs, as of spark-submit; by default on all cores of this machine.",
        metavar="URL",
    ),
]
Packages = Annotated[
    str | None,
    typer.Option(
        help="Connectors, as Maven coordinates separated by commas.",
        metavar="GROUP:ARTIFACT:VERSION",
    ),
]
Jars = Annotated[
    str | None, typer.Option(help="Connectors, as files separated by commas.", metavar="FILES")
]
Properties = Annotated[
    list[str] | None,
    typer.Option("--conf", help="A property of Spark; may be repeated.", metavar="NAME=VALUE"),
]


def spark_properties(
    assignments: Sequence[str] | None,
    master: str | None = None,
    packages: str | None = None,
    jars: str | None = None,
) -> dict[str, str]:
    """The properties that the options set.

    Raises:
        typer.BadParameter: an assignment is not NAME=VALUE, or a property is set twice.
    """
    found: dict[str, str] = {}
    for text in assignments or ():
        name, sign, value = text.partition("=")
        if not sign or not name.strip():
            raise typer.BadParameter(f"'{text}' is not NAME=VALUE", param_hint="--conf")
        found[name.strip()] = value.strip()
    options = {
        "--master": ("spark.master", master),
        "--packages": ("spark.jars.packages", packages),
        "--jars": ("spark.jars", jars),
    }
    for option, (name, given) in options.items():
        if given is not None and name in found:
            raise typer.BadParameter(f"'{name}' is also set by {option}", param_hint="--conf")
        if given is not None:
            found[name] = given
    return found
