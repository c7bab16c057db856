"""Messages of Protobuf as columns, and bytes that are none, beside Protobuf's own library."""

from __future__ import annotations

import random
from dataclasses import replace
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from eddyline.spark.formats.protobuf_columns import Form
from eddyline.spark.formats.protobuf_schema import ProtobufSchema
from eddyline.types import TIMESTAMP
from protobuf_orders import descriptors, message, orders, with_group

ITEM = pa.struct([("name", pa.string()), ("count", pa.int32())])
TYPES = {
    "id": pa.int64(),
    "price": pa.float64(),
    "side": pa.string(),
    "item": ITEM,
    "items": pa.list_(ITEM),
    "sizes": pa.list_(pa.int32()),
    "fees": pa.map_(pa.string(), pa.float64()),
    "parts": pa.map_(pa.int64(), ITEM),
    "at": TIMESTAMP,
    "limit": pa.int64(),
    "venue": pa.string(),
    "desk": pa.int64(),
    "note": pa.string(),
    "big": pa.int64(),
    "raw": pa.binary(),
    "names": pa.list_(pa.string()),
    "times": pa.list_(TIMESTAMP),
    "sides": pa.list_(pa.string()),
    "marks": pa.list_(pa.int64()),
    "ratios": pa.list_(pa.float32()),
    "far": pa.bool_(),
}


def order(of: Any, i: int) -> Any:
    """An order with all fields."""
    made = of(id=i, price=i / 4, side=i % 2, item={"name": f"é{i}", "count": -i}, venue="x")
    made.items.extend([of.Item(name="a"), of.Item(count=2)])
    made.sizes.extend([1, -2, 300])
    made.fees["k"] = 1.5
    made.parts[i].name = "p"
    made.at.FromMicroseconds(1_767_225_600_000_007 + i)
    made.limit.value, made.note, made.big, made.raw, made.far = 0, "n", 2**63 + i, b"\xff", True
    made.names.add(value="w")
    made.times.add(seconds=3)
    made.sides.extend([0, 7])
    made.marks.extend([1, 2**32 - 1])
    made.ratios.append(0.5)
    return made


def form(*names: str, syntax: str = "proto3") -> Form:
    schema = ProtobufSchema.of_set(descriptors(orders(syntax)), "shop.Order")
    return schema.form(((name,), TYPES[name]) for name in names or TYPES)


def rows(
    of: Form, messages: list[bytes | None], *names: str
) -> tuple[dict[str, list[Any]], list[Any]]:
    """The columns, all or those of these names, and the reasons."""
    columns, reasons = of.read(pa.array(messages, pa.binary()))
    for column in columns:
        column.validate(full=True)
        assert len(column) == len(messages)
    values = {name: _listed(column) for name, column in zip(names or TYPES, columns, strict=True)}
    return values, [None] * len(messages) if reasons is None else reasons.to_pylist()


def _listed(column: pa.Array) -> list[Any]:
    """Values of Python; instants, which may be beyond those, in us."""
    if column.type == TIMESTAMP:
        column = column.cast(pa.int64())
    elif column.type == pa.list_(TIMESTAMP):
        column = column.cast(pa.list_(pa.int64()))
    return column.to_pylist()


@pytest.mark.parametrize("syntax", ["proto2", "proto3"])
def test_each_kind_of_field(syntax: str) -> None:
    of = message("shop.Order", orders(syntax))
    values, reasons = rows(
        form(syntax=syntax), [order(of, 5).SerializeToString(), of(desk=9).SerializeToString()]
    )
    assert reasons == [None, None]
    first = {name: column[0] for name, column in values.items()}
    none = {"proto2": None, "proto3": 0}[syntax]
    text = {"proto2": None, "proto3": ""}[syntax]
    assert first == {
        "id": 5,
        "price": 1.25,
        "side": "SELL",
        "item": {"name": "é5", "count": -5},
        "items": [{"name": "a", "count": none}, {"name": text, "count": 2}],
        "sizes": [1, -2, 300],
        "fees": [("k", 1.5)],
        "parts": [(5, {"name": "p", "count": none})],
        "at": 1_767_225_600_000_012,
        "limit": 0,
        "venue": "x",
        "desk": None,
        "note": "n",
        "big": Decimal(2**63 + 5),
        "raw": b"\xff",
        "names": ["w"],
        "times": [3_000_000],
        "sides": ["BUY", "SHORT"],
        "marks": [1, 2**32 - 1],
        "ratios": [0.5],
        "far": True,
    }
    second = {name: column[1] for name, column in values.items()}
    assert second["desk"] == 9 and second["note"] is None and second["limit"] is None
    assert second["id"] == none and second["side"] == (None if none is None else "BUY")
    assert (second["item"], second["items"], second["fees"], second["at"]) == (None, [], [], None)


def test_values_at_paths() -> None:
    of = message("shop.Order", orders())
    inner = of.Item(name="outer", bundle=[order(of, 1), order(of, 2)])
    inner.bundle[1].item.bundle.append(order(of, 3))
    values = [of(item=inner), of(), order(of, 7)]
    values[2].fees["é"] = 4
    paths = [
        (("item", "bundle", 1, "item", "bundle", 0, "id"), pa.int64()),  # messages in themselves
        (("items", 1, "count"), pa.int64()),
        (("fees", "é"), pa.float64()),
        (("sizes", 2), pa.int64()),
        (("sizes", 3), pa.int64()),
        (("side",), pa.int64()),
        (("side",), pa.string()),
        (("item",), pa.struct([("bundle", pa.list_(pa.struct([("id", pa.int64())])))])),
    ]
    schema = ProtobufSchema.of_set(descriptors(orders()), "shop.Order")
    data = [value.SerializeToString() for value in values]
    columns, reasons = schema.form(paths).read(pa.array(data, pa.binary()))
    assert reasons is None
    assert [column.to_pylist() for column in columns] == [
        [3, None, None],
        [None, None, 2],
        [None, None, 4.0],
        [None, None, 300],
        [None, None, None],
        [0, 0, 1],
        ["BUY", "BUY", "SELL"],
        [{"bundle": [{"id": 1}, {"id": 2}]}, None, {"bundle": []}],
    ]


def test_unusual_messages() -> None:
    messages = [
        b"\x18\x09",  # a number that the enum does not name
        b"\x3a\x03\x0a\x01k\x3a\x00",  # a map: a key without a value, and neither of both
        b"\x42\x02\x08\x05",  # likewise, of messages
        b"\x08\x01\x08\x02\x22\x03\x0a\x01a\x22\x02\x10\x07",  # fields twice
        b"\x32\x02\x02\x03\x30\x05",  # a list, packed and not
        b"\x0a\x02hi\xa0\x3f\x01",  # bytes where a number is declared, and an unknown field
        b"\xa3\x3f\x08\x01\xa4\x3f",  # an unknown group
        b"\x4a\x0c\x08" + b"\xff" * 8 + b"\x7f\x10\x01",  # a time that is beyond all
    ]
    values, reasons = rows(form(), list(messages))
    assert reasons == [None] * len(messages)
    assert values["side"][0] == "9"
    assert values["fees"][1] == [("k", 0.0), ("", 0.0)]
    assert values["parts"][2] == [(5, None)]
    assert values["id"][3] == 2 and values["item"][3] == {"name": "a", "count": 7}
    assert values["sizes"][4] == [1, -2, -3]
    assert values["id"][5:7] == [0, 0]


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"\xff", "it ends within the field at byte 0"),
        (b"\x08\x01\x22\x05", "it ends within the field at byte 2"),
        (b"\x08" + b"\xff" * 11, "a number of more than ten bytes at byte 0"),
        (b"\x08\x01\x00", "no field and no way to write one at byte 2"),
        (b"\x88\x80\x80\x80\x80\x00\x01", "no field and no way to write one at byte 0"),
        (b"\x0f", "no field and no way to write one at byte 0"),
        (b"\x6a\x02\xff\xfe", "a text that is not UTF-8 at byte 0"),
        (b"\x22\x04\x0a\x02\xc3\x28", "a text that is not UTF-8 at byte 2"),
        (b"\x82\x01\x03\x0a\x01\xff", "a text that is not UTF-8 at byte 3"),
        (b"\x9a\x01\x03abc", "it ends within the field at byte 0"),
        (b"\xa3\x3f\x08\x01", "the end of a group that did not begin, or none of one that did at "),
        (b"\xa3\x3f\xac\x3f", "the end of a group that did not begin, or none of one that did at "),
        (b"\xc3\x3e" * 400_000, "more than 100 messages or groups within each other at byte 200"),
    ],
)
def test_bytes_that_are_no_message(data: bytes, reason: str) -> None:
    good = order(message("shop.Order", orders()), 3).SerializeToString()
    values, reasons = rows(form(), [good, data, None, good])
    assert reasons[1].startswith(f"no message shop.Order: {reason}")
    assert reasons[0] is reasons[2] is reasons[3] is None
    assert values["id"] == [3, None, None, 3]


def test_times_within_lists_that_are_beyond_all() -> None:
    of = message("shop.Order", orders())
    values = [of(), of(id=1), of(id=2), of(id=3)]
    for value, seconds in (
        (1, (5, 2**62)),
        (2, (-62_135_596_800, 253_402_300_799)),
        (3, (-(2**40),)),
    ):
        for second in seconds:
            values[value].times.add(seconds=second)
    found, reasons = rows(
        form("times", "id"), [v.SerializeToString() for v in values], "times", "id"
    )
    why = "no message shop.Order: a time that is not of the years 1 to 9999"
    assert reasons == [None, why, None, why]
    assert found["times"][2] == [-62_135_596_800_000_000, 253_402_300_799_000_000]


def flattened() -> Any:
    """Orders of which no field contains an order."""
    file = orders()
    del file.message_type[1].nested_type[0].field[2:]
    return message("shop.Order", file)


@pytest.mark.parametrize("seed", range(3))
def test_broken_messages_are_those_of_the_reference(seed: int) -> None:
    of, chance = flattened(), random.Random(seed)
    messages = []
    for i in range(4000):
        data = bytearray(order(of, i).SerializeToString())
        how = chance.randrange(5)
        for _ in range(chance.randrange(1, 4)):
            at = chance.randrange(len(data))
            if how == 0:
                data[at] = chance.randrange(256)
            elif how == 1:
                data[at] ^= 1 << chance.randrange(8)
            elif how == 2:
                data = data[: at + 1]
            elif how == 3:
                data[at:at] = bytearray(chance.randbytes(chance.randrange(1, 6)))
            else:
                data = bytearray(chance.randbytes(1 + chance.randrange(40)))
        messages.append(bytes(data))
    values, reasons = rows(form(), list(messages))
    good = 0
    for at, (raw, reason) in enumerate(zip(messages, reasons, strict=True)):
        try:
            parsed = of.FromString(raw)
        except Exception:
            assert reason is not None, raw.hex()
            continue
        assert reason is None, raw.hex()
        good += 1
        assert [values[name][at] for name in ("id", "raw", "far")] == [
            parsed.id,
            parsed.raw,
            parsed.far,
        ]
        assert values["sizes"][at] == list(parsed.sizes)
        assert [(item["name"], item["count"]) for item in values["items"][at]] == [
            (item.name, item.count) for item in parsed.items
        ]
        # that library leaves out entries of maps with unknown fields
        assert set(parsed.fees) <= set(dict(values["fees"][at]))
    assert 200 < good < 3800


def test_what_only_the_decoder_refuses() -> None:
    """Without the checks of texts by the kernel."""
    unchecked = replace(form("note"), fields=form("id").fields, firsts=form("id").firsts)
    good = order(message("shop.Order", orders()), 3).SerializeToString()
    data = [good] * 50
    data[7] = data[31] = b"\x6a\x01\xff"
    columns, reasons = unchecked.read(pa.array(data, pa.binary()))
    assert reasons is not None
    at = np.flatnonzero(np.asarray(reasons.is_valid()))
    assert list(at) == [7, 31]
    assert reasons[7].as_py() == (
        "no message shop.Order: failed to decode Protobuf message: invalid UTF-8"
    )
    assert columns[0].drop_null().to_pylist()[0] == "n" and columns[0].null_count == 2


def test_a_form_has_only_what_is_read() -> None:
    of = message("shop.Order", with_group())
    data = of(id=4, old={"x": 5}).SerializeToString() + b"\x6a\x01\xff"  # no text in 'note'
    values, reasons = rows(form("id", syntax="proto2"), [data], "id")
    assert reasons == [None] and values["id"] == [4]
