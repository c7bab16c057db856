"""An archive of the classes that Spark loads for a job, which Java maps into memory at its start.

Java calls this class data sharing: classes in the archive are neither read from the jars nor parsed
and verified again. An archive fits one Java and one set of jars; Java ignores it if they differ.
``eddyline prepare`` makes it, in the user's cache directory.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Final

import pyspark

from eddyline.user_cache import cache_directory

#: No warnings on standard output about an archive that does not fit.
_QUIET: Final = ("-Xlog:disable", "-Xlog:all=error:stderr")


def archive_file(java: Path) -> Path:
    """The archive for this Java and the installed PySpark; it may not exist.

    Args:
        java: its command.
    """
    real = java.resolve()
    release = real.parent.parent / "release"
    jars = Path(pyspark.__file__).parent / "jars"
    home = os.environ.get("SPARK_HOME", "")
    text = release.read_text() if release.exists() else ""
    known = "\n".join([str(real), text, str(jars), home, pyspark.__version__])
    key = hashlib.sha256(known.encode()).hexdigest()[:16]
    return cache_directory() / f"spark-{pyspark.__version__}-{key}.jsa"


def use_options(java: Path) -> tuple[str, ...]:
    """Java's options to use the archive; none if there is no archive."""
    file = archive_file(java)
    return (f"-XX:SharedArchiveFile={file}", "-Xshare:auto", *_QUIET) if file.exists() else ()


def make_options(file: Path) -> tuple[str, ...]:
    """Java's options to write the classes that it has loaded to ``file`` when it ends."""
    return (f"-XX:ArchiveClassesAtExit={file}", *_QUIET)
