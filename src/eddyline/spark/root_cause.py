"""The root cause of a job's failure, which Spark wraps in stack traces."""

from __future__ import annotations

import re
from typing import Final

_RAISED: Final = re.compile(r"^(?:[\w.]+\.)?(\w*(?:Error|Exception))(: .+)?$", re.MULTILINE)


def root_cause(error: Exception) -> str:
    """The last error in the text of Spark's exception, in one line."""
    raised = _RAISED.findall(str(error))
    if raised:
        return "".join(raised[-1])
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__
