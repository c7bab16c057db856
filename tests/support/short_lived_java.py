"""Options of Java in processes that end soon."""

from __future__ import annotations

from typing import Final

#: Methods are compiled once, quickly, and garbage is collected in one thread: to compile them again
#: takes longer than it saves in tests.
SHORT_LIVED_JAVA: Final = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"

#: The same for ``eddyline run``.
SHORT_LIVED_RUN: Final = ("--conf", f"spark.driver.extraJavaOptions={SHORT_LIVED_JAVA}")
