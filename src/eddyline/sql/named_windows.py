"""Named windows of OVER: ``SELECT SUM(x) OVER w ... WINDOW w AS (PARTITION BY k ORDER BY ts)``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from sqlglot import exp

from eddyline.errors import SqlError, did_you_mean
from eddyline.sql.source import SourceText

#: Parts of a window, in the order in which they are written.
_PARTS: Final = {"partition_by": "PARTITION BY", "order": "ORDER BY", "spec": "a frame"}


def with_named_windows(select: exp.Expr, named: Sequence[exp.Expr], source: SourceText) -> None:
    """Replace the names of windows in a SELECT by what they stand for.

    Args:
        named: the windows of its WINDOW clause; each may read those before it.

    Raises:
        SqlError: there is no window of a name, or several, or a part is given twice.
    """
    known: dict[str, exp.Expr] = {}
    for window in named:
        name = window.this.name.lower()
        if name in known:
            raise source.error(window.this, f"there are several windows '{name}'")
        _complete(window, known, source)
        known[name] = window
    own = select.walk(prune=lambda n: isinstance(n, exp.Query) and n is not select)
    for node in list(own):
        if isinstance(node, exp.Window):
            _complete(node, known, source)


def _complete(window: exp.Expr, known: dict[str, exp.Expr], source: SourceText) -> None:
    alias = window.args.get("alias")
    if alias is None:
        return
    found = known.get(alias.name.lower())
    if found is None:
        raise _unknown(alias, known, source)
    for part, words in _PARTS.items():
        given = found.args.get(part)
        if not given:
            continue
        if window.args.get(part):
            raise source.error(alias, f"the window '{alias.name}' has {words} already")
        copies = [e.copy() for e in given] if isinstance(given, list) else given.copy()
        window.set(part, copies)
    window.set("alias", None)


def _unknown(alias: exp.Expr, known: dict[str, exp.Expr], source: SourceText) -> SqlError:
    if not known:
        message = f"there is no window '{alias.name}': write WINDOW {alias.name} AS (...)"
        return source.error(alias, message)
    return source.error(
        alias, f"there is no window '{alias.name}'; {did_you_mean(alias.name, known)}"
    )
