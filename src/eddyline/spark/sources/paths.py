"""The paths of files that streams read."""

from __future__ import annotations

from collections.abc import Mapping

from eddyline.spark.formats.format_options import FILE_FORMATS
from eddyline.spark.formats.parquet import local_path


def wrong_path(what: str, format_: str | None, options: Mapping[str, str]) -> str | None:
    """What is wrong with the path of a stream or a changing table on this machine, if it exists.

    Spark watches directories: a path that is a file ends the query in its first batch.

    Args:
        what: names the stream or table. format_, options: of its source.
    """
    path = next((v for k, v in options.items() if k.lower() == "path"), None)
    place = local_path(path) if path and format_ in FILE_FORMATS else None
    if place is None or not place.is_file():
        return None
    return (
        f"{what}: path '{path}' is a file; give its directory, or a pattern such as "
        f"'{place.parent}/*{place.suffix}': files that are added later are read too"
    )
