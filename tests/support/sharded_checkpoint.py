"""The checkpoint of a job in one process: the product's files, beside a log as Spark writes it."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest

from eddyline import StateError
from eddyline.spark.layouts.job_program import JobProgram
from eddyline.spark.rescaling import rescale_directory
from eddyline.spark.script import QueryGroup, Script
from eddyline.spark.storage.directory import LocalDirectory
from eddyline.spark.storage.program_file import SPARK_DIRECTORY


class Checkpoint:
    """A checkpoint, of which the model keeps the states.

    Args:
        cells: the largest number of cells of a layout. partitions: of the first batch.

    Attributes:
        next_batch: Spark's id of the next batch.
    """

    def __init__(
        self,
        directory: LocalDirectory,
        script: Script,
        groups: Sequence[QueryGroup],
        cells: int,
        partitions: int,
    ) -> None:
        self.directory = directory
        self.next_batch = 0
        self._spark = directory.below(SPARK_DIRECTORY)
        self._of_job = script, groups
        self._cells = cells
        self._first: int | None = partitions

    def program(self) -> JobProgram:
        """The program of the job, at a start.

        Raises:
            StateError: a rescaling was interrupted.
        """
        found = JobProgram(self.directory, *self._of_job, self._first, self._cells, self._cells)
        self._first = None  # a checkpoint has its number
        return found

    def begin(self, partitions: int) -> None:
        """The next batch begins."""
        self._spark.make("offsets")
        conf = json.dumps({"conf": {"spark.sql.shuffle.partitions": str(partitions)}})
        self._spark.replace(f"offsets/{self.next_batch}", f"v1\n{conf}".encode())

    def commit(self) -> None:
        """The batch is complete."""
        self._spark.make("commits")
        self._spark.replace(f"commits/{self.next_batch}", b"v1\n{}")
        self.next_batch += 1

    def rescale(self, partitions: int) -> None:
        """Rescale the stopped job, by a batch of its own, as Spark does."""

        def repartition() -> None:
            self.begin(partitions)
            self.commit()

        batch = self.next_batch
        done = rescale_directory(self.directory, partitions, repartition)
        assert done.shards == partitions
        assert done.batch == (None if done.before == partitions else batch)

    def fail_to_rescale(self, partitions: int) -> None:
        """A rescaling to another number that is interrupted: the job does not start, and is not
        rescaled to a third number.
        """

        def repartition() -> None:
            self.begin(partitions)
            raise StateError("the machine is off")

        with pytest.raises(StateError, match="the machine is off"):
            rescale_directory(self.directory, partitions, repartition)
        with pytest.raises(StateError, match="was interrupted: repeat"):
            self.program()
        for other in {*range(1, self._cells + 1)} - {partitions}:
            with pytest.raises(StateError, match="was interrupted: repeat"):
                rescale_directory(self.directory, other, repartition)

    def require_a_complete_batch(self, partitions: int) -> None:
        """The last batch is not complete, so the job is not rescaled."""

        def repartition() -> None:
            raise AssertionError("it must be refused")

        with pytest.raises(StateError, match="is not complete, and has to be repeated"):
            rescale_directory(self.directory, partitions, repartition)
