"""All options of an engine, set by name and text: in SET statements and on the command line."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Final, get_args

from eddyline.engine.options import (
    CHOICES,
    DEFAULT_STRATEGY,
    DEFAULTS,
    EngineOptions,
    StrategyOptions,
)
from eddyline.errors import did_you_mean


@dataclass(frozen=True)
class Settings:
    """The options of an engine."""

    options: EngineOptions = DEFAULTS
    strategy: StrategyOptions = DEFAULT_STRATEGY

    def with_text(self, name: str, text: str | None) -> Settings:
        """These with another value of one option, as text; None: SQL's NULL.

        Raises:
            ValueError: there is no such option, or the value is not valid.
        """
        value = _value(name, text)
        if name in _OF_STRATEGY:
            return replace(self, strategy=replace(self.strategy, **{name: value}))
        return replace(self, options=replace(self.options, **{name: value}))

    def with_texts(self, assignments: Iterable[str]) -> Settings:
        """These with the values of texts like ``schedule=swf``; the value ``NULL``: none.

        Raises:
            ValueError: as of :meth:`with_text`; or a text has no ``=``.
        """
        settings = self
        for text in assignments:
            name, equals, value = (part.strip() for part in text.partition("="))
            if not equals:
                raise ValueError(f"write name=value, not {text!r}")
            value_or_null = None if value.upper() == "NULL" else value
            settings = settings.with_text(name.lower(), value_or_null)
        return settings


@dataclass(frozen=True)
class _Reader:
    """How the text of an option is read.

    Attributes:
        expected: what the text must be. nullable: whether NULL is a value.
    """

    expected: str
    read: Callable[[str], Any]
    nullable: bool = False


def _shares(text: str) -> dict[str, float]:
    """``trades=0.5, quotes=0.2`` by stream."""
    shares = {}
    for part in filter(None, map(str.strip, text.split(","))):
        stream, _, share = part.partition("=")
        shares[stream.strip()] = float(share)
    return shares


def _truth(text: str) -> bool:
    found = {"true": True, "false": False}.get(text.lower())
    if found is None:
        raise ValueError(text)
    return found


_INTEGER: Final = _Reader("an integer", int)
_NUMBER: Final = _Reader("a number", float)
_TRUTH: Final = _Reader("TRUE or FALSE", _truth)


def _choice(name: str) -> _Reader:
    *others, last = get_args(CHOICES[name])
    return _Reader(f"{', '.join(others)} or {last}", str)


#: All options but three: ``statistics`` are declared with streams and tables, ``prices`` measured
#: by ``eddyline calibrate``, and a ``feedback_form`` is an object.
_READERS: Final[Mapping[str, _Reader]] = {
    "chunk_rows": _INTEGER,
    "keep": _Reader("shares by stream, like 'trades=0.5, quotes=0.2'", _shares),
    "capacity": _Reader("a number or NULL", float, nullable=True),
    "memory": _Reader("an amount of memory, like '4 GB', or NULL", str, nullable=True),
    "decide_every": _Reader("a duration, like '1 minute'", str),
    "decide": _Reader("before or after", str),
    "costs": _Reader("measured or modelled", str),
    "set_aside_after": _Reader("an integer or NULL", int, nullable=True),
    "ahead_at_most": _Reader("a duration, like '1 day', or NULL", str, nullable=True),
    "latency": _Reader("a duration, like '500 ms', or NULL", str, nullable=True),
    **{name: _choice(name) for name in CHOICES},
    "partitions": _INTEGER,
    "views": _TRUTH,
    "negative_tuples_from": _Reader("a number or NULL", float, nullable=True),
    "lazy_expiry": _Reader("a duration, like '5 minutes', or NULL", str, nullable=True),
    "combinations": _TRUTH,
    "nested_loops": _TRUTH,
    "sharing": _TRUTH,
    "optimize": _TRUTH,
    "replan": _NUMBER,
}
#: Names of the options that can be set by text.
SETTABLE: Final = tuple(_READERS)
_OF_STRATEGY: Final = frozenset(f.name for f in fields(StrategyOptions))


def _value(name: str, text: str | None) -> Any:
    reader = _READERS.get(name)
    if reader is None:
        raise ValueError(f"there is no option {name!r}; {did_you_mean(name, _READERS)}")
    if text is None and reader.nullable:
        return None
    shown = "NULL" if text is None else repr(text)
    try:
        if text is None:
            raise ValueError
        return reader.read(text)
    except ValueError:
        raise ValueError(f"{name} must be {reader.expected}, not {shown}") from None


#: The options of an engine that is given none.
DEFAULT_SETTINGS: Final = Settings()
