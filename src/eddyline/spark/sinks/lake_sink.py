"""What sinks for tables of files have in common, checked without the packages that write them."""

from __future__ import annotations

import pyarrow as pa

from eddyline.engine.query import Query
from eddyline.errors import DataError
from eddyline.spark.sinks.sink_bases import Target
from eddyline.spark.sinks.table_modes import wrong_option
from eddyline.types import sql_type

#: By the place of a table, the query or side output of a job that owns it.
TableOwners = dict[tuple[object, ...], str]


def note_owner(
    owners: TableOwners, target: Target, place: tuple[object, ...], shown: str, option: str
) -> None:
    """Note that a target writes to a table.

    Args:
        place: of the table. shown: the place in messages. option: that sets it.

    Raises:
        DataError: another sink has the table.
    """
    owner = owners.setdefault(place, target.label)
    if owner != target.label:
        raise DataError(
            f"'{target.label}': the table '{shown}' belongs to '{owner}', whose sink has other "
            f"options or columns; choose another {option}"
        )


def check_types(query: Query, what: str) -> None:
    """Check that there is a type for each column of a query.

    Args:
        what: that has the types.

    Raises:
        OptionError: there is none.
    """
    for field in query.schema:
        if _has_interval(field.type):
            message = f"{what} has no type for {sql_type(field.type)}, the type of '{field.name}'"
            raise wrong_option(query, "sink", message)


def _has_interval(type_: pa.DataType) -> bool:
    if not pa.types.is_nested(type_):
        return bool(pa.types.is_duration(type_) or pa.types.is_interval(type_))
    return any(_has_interval(type_.field(i).type) for i in range(type_.num_fields))
