"""Types of messages of Protobuf, from their descriptors: whether they have what columns read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import Any, Final

import pyarrow as pa
from google.protobuf.descriptor_pb2 import FileDescriptorProto, FileDescriptorSet
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import DecodeError

from eddyline.algebra.catalog import JsonPath
from eddyline.errors import DataError, did_you_mean
from eddyline.spark.formats.protobuf_columns import Form
from eddyline.spark.formats.protobuf_form import FormBuilder

#: Files that come with Protobuf; a set of descriptors may lack them.
_COMMON: Final = ("any", "duration", "empty", "field_mask", "struct", "timestamp", "wrappers")
_HOW: Final = "protoc --include_imports --descriptor_set_out=FILE, or buf build -o FILE, makes one"
_SHOWN: Final = "google.protobuf."


class ProtobufSchema:
    """A type of messages.

    Args:
        files: descriptors by name.
        message: the name of the type with its package; None: the first one of the last file.

    Raises:
        DataError: a file or the type is missing.
    """

    def __init__(self, files: Mapping[str, FileDescriptorProto], message: str | None) -> None:
        self._pool = DescriptorPool()
        self._files = {**_common_files(), **files}
        self._added: dict[str, Any] = {}
        for name in files:
            self._add(name, ())
        types = {t.full_name: t for name in files for t in _types(self._added[name])}
        wanted = (message or "").removeprefix(".")
        if message is None:
            of_last = self._added[list(files)[-1]].message_types_by_name
            wanted = next((t.full_name for t in of_last.values()), "")
        if wanted not in types:
            known = [name for name in types if not name.startswith(_SHOWN)]
            raise DataError(f"there is no message '{wanted}'; {did_you_mean(wanted, known)}")
        self._type = types[wanted]

    @classmethod
    def of_set(cls, data: bytes, message: str) -> ProtobufSchema:
        """A type of a set of descriptors (``FileDescriptorSet``).

        Raises:
            DataError: it is none, or has no such type.
        """
        try:
            found = FileDescriptorSet.FromString(data).file
        except DecodeError:
            found = []
        if not found or not all(file.name for file in found):
            raise DataError(f"these are no descriptors: {_HOW}")
        return cls({file.name: file for file in found}, message)

    @classmethod
    def of_files(cls, files: Mapping[str, bytes], message: str | None) -> ProtobufSchema:
        """A type of files by the names under which others import them.

        Raises:
            DataError: one is no descriptor, or there is no such type.
        """
        found: dict[str, FileDescriptorProto] = {}
        for name, data in files.items():
            try:
                found[name] = FileDescriptorProto.FromString(data)
            except DecodeError:
                raise DataError(f"'{name}' is no descriptor of a file") from None
            found[name].name = name
        return cls(found, message)

    @property
    def name(self) -> str:
        """The name of the type, with its package."""
        return str(self._type.full_name)

    @property
    def indexes(self) -> list[int]:
        """The position of the type in its file, or of those around it and within them."""
        found: list[int] = []
        type_ = self._type
        while type_ is not None:
            around = type_.containing_type
            beside = (
                type_.file.message_types_by_name.values() if around is None else around.nested_types
            )
            found.insert(0, [t.full_name for t in beside].index(type_.full_name))
            type_ = around
        return found

    def check(self, path: JsonPath, type_: pa.DataType) -> None:
        """Check that a value is there to read, and that it can have a type.

        Raises:
            DataError: it is not.
        """
        FormBuilder(self._type).column(path, type_)

    def form(self, columns: Iterable[tuple[JsonPath, pa.DataType]]) -> Form:
        """The messages with what columns read.

        Args:
            columns: of each one its path and declared type.

        Raises:
            DataError: as for :meth:`check`.
        """
        builder = FormBuilder(self._type)
        found = tuple(builder.column(path, type_) for path, type_ in columns)
        return builder.form(found)

    def _add(self, name: str, importers: tuple[str, ...]) -> None:
        """Add a file, behind those that it imports."""
        if name in self._added:
            return
        if name not in self._files:
            raise DataError(f"'{importers[-1]}' imports '{name}', which is not there: {_HOW}")
        if name in importers:
            raise DataError(f"'{name}' imports itself")
        for imported in self._files[name].dependency:
            self._add(imported, (*importers, name))
        try:
            self._pool.AddSerializedFile(self._files[name].SerializeToString())
        except TypeError as e:
            raise DataError(f"Protobuf cannot use '{name}': {e}") from None
        self._added[name] = self._pool.FindFileByName(name)


def _common_files() -> dict[str, FileDescriptorProto]:
    found = {}
    for name in _COMMON:
        file = FileDescriptorProto()
        import_module(f"google.protobuf.{name}_pb2").DESCRIPTOR.CopyToProto(file)
        found[file.name] = file
    return found


def _types(file: Any) -> list[Any]:
    """The types of a file, also those within others, without the entries of maps."""
    found = list(file.message_types_by_name.values())
    for type_ in found:  # grows meanwhile
        found += [t for t in type_.nested_types if not t.GetOptions().map_entry]
    return found
