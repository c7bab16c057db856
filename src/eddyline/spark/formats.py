"""Which options sources and sinks take, as far as it is known without asking Spark.

``eddyline check``, the statements of a session and the start of a job go by these rules.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from typing import Final, Literal

from eddyline.errors import DataError, did_you_mean
from eddyline.spark.format_options import SINKS, SOURCES, Format
from eddyline.sql.definitions import SIDE_PREFIXES

#: What the options of a source are of.
Declared = Literal["stream", "table", "changing table"]

#: Options of streams and tables, and of queries, that are not for Spark.
OF_SOURCES: Final = ("source", "updates")
OF_SINKS: Final = ("sink", "shared")

#: Words of WITH that are taken out before the options come here; for advice.
_TAKEN: Final[Mapping[Declared, tuple[str, ...]]] = {
    "stream": ("rate", "distinct", "ts_unit", "lateness_by"),
    "table": ("rows", "distinct", "updates"),
    "changing table": ("rows", "rate", "distinct", "updates", "ts_unit"),
}
_SIDES: Final = tuple(p + word for p in SIDE_PREFIXES for word in ("sink", "path"))
#: How near the name of an option is to another one of which it must be a misspelling.
_MISSPELT: Final = 0.8


class OptionError(DataError):
    """An option of a source or sink is missing or wrong.

    Attributes:
        message: without a place. option: the one to look at, if there is one.
        part: whether its name or its value is to be looked at.
    """

    def __init__(
        self, message: str, option: str | None, part: Literal["name", "value"] = "name"
    ) -> None:
        super().__init__(message)
        self.message = message
        self.option = option
        self.part = part


def source_format(options: Mapping[str, str]) -> str | None:
    """The format of a source: a name in lower case, or that of a class; None if none is given."""
    return _plain(options["source"]) if "source" in options else None


def sink_format(options: Mapping[str, str]) -> str:
    """The format of a sink: a name in lower case, or that of a class."""
    return _plain(options.get("sink", "print"))


def side_options(options: Mapping[str, str], prefix: str) -> dict[str, str]:
    """The options of the sink of a side output, without their prefix (``late_`` or ``bad_``)."""
    return {k.removeprefix(prefix): v for k, v in options.items() if k.startswith(prefix)}


def require_source(what: str, options: Mapping[str, str]) -> None:
    """Check that a source is named.

    Args:
        what: whose options these are, as messages call it.

    Raises:
        OptionError: it is not.
    """
    if "source" in options:
        return
    own = [o for o in options if not o.startswith(SIDE_PREFIXES)]
    nearest = _nearest("source", own)
    hint = f"; {did_you_mean(nearest, ('source',))}" if nearest else ""
    raise OptionError(
        f"{what} has no source: declare it WITH (source = 'parquet', path = '...'), "
        f"or hand over a DataFrame from Python{hint}",
        nearest,
    )


def check_source(name: str, options: Mapping[str, str], of: Declared) -> list[str]:
    """Check the source of a stream or table, and the sinks of its side outputs.

    One without any option is not refused: its rows may be handed over.

    Returns:
        What only Spark can tell, in sentences.

    Raises:
        OptionError: the format or an option is unknown, or one is missing.
    """
    what = f"{'stream' if of == 'stream' else 'table'} '{name}'"
    own = {k: v for k, v in options.items() if not k.startswith(SIDE_PREFIXES)}
    unsure: list[str] = []
    for prefix in SIDE_PREFIXES:
        if sides := side_options(options, prefix):
            unsure += _check_side(f"{prefix[:-1]}:{name}", sides, prefix)
    format_ = source_format(own)
    if format_ is None:
        if own:
            require_source(what, own)
        return unsure
    known = _known("source", what, format_, SOURCES)
    if known is None:
        return [*unsure, *_unchecked_format("source", what, format_)]
    brings = "tables" if of == "table" else "streams"
    if known.brings not in ("both", brings):
        rows = "the rows of a static table" if of == "table" else "rows that keep coming"
        fitting = (name for name, f in SOURCES.items() if f.brings in ("both", brings))
        raise OptionError(
            f"{what}: the source '{format_}' does not bring {rows}; valid: {', '.join(fitting)}",
            "source",
            "value",
        )
    whose = f"{what}: the source '{format_}'"
    ours = ("source", *_TAKEN[of], *_SIDES)
    _check_options(whose, own, known, OF_SOURCES, ours, "source")
    return unsure


def check_sink(what: str, options: Mapping[str, str], *, of_query: bool) -> list[str]:
    """Check the sink of a query, or of a side output.

    Args:
        what: whose sink it is, as messages call it.

    Returns:
        What only Spark can tell, in sentences.

    Raises:
        OptionError: the format or an option is unknown or has no such value, or one is missing.
    """
    format_ = sink_format(options)
    known = _known("sink", f"'{what}'", format_, SINKS)
    if known is not None:
        written = of_query and format_ not in ("print", "memory")
        ours = OF_SINKS if written else ("sink",)
        _check_options(f"'{what}': the sink '{format_}'", options, known, ours, ours, "sink")
    if format_ == "print":
        _check_rows(what, options.get("rows", "1"))
    shared = options.get("shared", "true")
    if of_query and shared.lower() not in ("true", "false"):
        raise OptionError(
            f"'{what}': shared = '{shared}' is neither 'true' nor 'false'", "shared", "value"
        )
    return [] if known is not None else _unchecked_format("sink", f"'{what}'", format_)


def _check_side(what: str, options: Mapping[str, str], prefix: str) -> list[str]:
    try:
        return check_sink(what, options, of_query=False)
    except OptionError as e:
        given = e.option is not None and e.option in options
        option = f"{prefix}{e.option}" if given else f"{prefix}{next(iter(options))}"
        raise OptionError(e.message, option, e.part) from None


def _known(
    kind: Literal["source", "sink"], what: str, format_: str, formats: Mapping[str, Format]
) -> Format | None:
    """What is known of a format; None if only Spark may know it.

    Raises:
        OptionError: its name is nearly that of a known one.
    """
    if format_ in formats or "." in format_:
        return formats.get(format_)
    if difflib.get_close_matches(format_, formats, n=1):
        raise OptionError(
            f"{what}: there is no {kind} '{format_}'; {did_you_mean(format_, formats)}; "
            "of a package, give the name of the class",
            kind,
            "value",
        )
    return None


def _unchecked_format(kind: str, what: str, format_: str) -> list[str]:
    if "." in format_:  # the name of a class is hardly a slip
        return []
    return [
        f"{what}: only Spark can tell, when the job starts, whether there is a {kind} '{format_}' "
        "(it takes a package on the class path), so its options are not checked"
    ]


def _check_options(
    whose: str,
    options: Mapping[str, str],
    known: Format,
    ours: Iterable[str],
    advised: Iterable[str],
    format_option: str,
) -> None:
    """Check names of options, and that those are there which are required.

    Args:
        ours: options beside the format's. advised: of these, what an unknown one may have meant.
    """
    names = {name.lower() for name in (*known.options, *ours)}
    choices = (*known.options, *advised)
    for option in options:
        if option.lower() in names or "." in option:
            continue
        if not known.open or difflib.get_close_matches(option, choices, n=1, cutoff=_MISSPELT):
            advice = did_you_mean(option, choices)
            raise OptionError(f"{whose} has no option '{option}'; {advice}", option)
    given = {option.lower() for option in options}
    for alternatives in known.required:
        if given.isdisjoint(a.lower() for a in alternatives):
            quoted = " or ".join(f"'{a}'" for a in alternatives)
            nearest = _nearest(alternatives[0], [o for o in options if o.lower() not in names])
            hint = f"; {did_you_mean(nearest, alternatives)}" if nearest else ""
            at = nearest or (format_option if format_option in options else None)
            part: Literal["name", "value"] = "name" if nearest else "value"
            raise OptionError(f"{whose} needs the option {quoted}{hint}", at, part)


def _check_rows(what: str, text: str) -> None:
    if not (text.isascii() and text.isdigit()) or int(text) < 1:
        raise OptionError(
            f"'{what}': rows = '{text}' is not a number of rows to print", "rows", "value"
        )


def _nearest(word: str, options: Iterable[str]) -> str | None:
    return next(iter(difflib.get_close_matches(word, list(options), n=1)), None)


def _plain(format_: str) -> str:
    return format_ if "." in format_ else format_.lower()
