"""Requests to the job of a soak: queries come and go, sinks are altered, answers are asked for."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections import Counter, deque
from pathlib import Path
from typing import Final

from eddyline.bench.soak.program import MOVING, STAYING, Guest, guest, sink
from eddyline.spark.run import Run

#: Queries that come and go at a time.
_GUESTS: Final = 8
_ASKED: Final = tuple(name for name in STAYING if name != MOVING)
_ALTER_EVERY, _COMMAND_EVERY = 16, 20
_TIMEOUT_S: Final = 300.0
_PAUSE_S: Final = 4.0


class Churn:
    """Sends one request after the other, in a thread.

    Attributes:
        guests: by name, the queries that came. sent: requests by kind. answered: rows of answers.
        altered: the names of the directories of the query whose sink is altered.
        errors: of requests.
    """

    def __init__(self, run: Run, folder: Path, checkpoint: Path) -> None:
        self._run, self._folder, self._checkpoint = run, folder, checkpoint
        self._there: deque[str] = deque()
        self._step = 0
        self.guests: dict[str, Guest] = {}
        self.sent: Counter[str] = Counter()
        self.answered = 0
        self.altered = [MOVING]
        self.errors: list[str] = []
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._requests, name="requests of the soak")
        self._thread.start()

    def stop(self) -> None:
        """Wait for the response to the last request."""
        self._end.set()
        self._thread.join()

    def _requests(self) -> None:
        while not self._end.wait(_PAUSE_S) and self._run.isActive:
            try:
                self.step()
            except Exception as e:  # the soak goes on, and does not hold
                self.errors.append(f"{type(e).__name__}: {e}")

    def step(self) -> None:
        """Send the next request, and wait until the job has taken it."""
        self._step += 1
        if self._step % _COMMAND_EVERY == 0:
            self._command()
        elif self._step % _ALTER_EVERY == 0:
            self._alter()
        elif self._step % 4 == 1:
            self._ask()
        elif len(self._there) < _GUESTS:
            self._add()
        else:
            self._drop()

    def _add(self) -> None:
        number = len(self.guests)
        name, query = f"guest_{number:04}", guest(number)
        self.guests[name] = query
        options = sink(self._folder, name) if query.is_filter else {"sink": "noop"}
        self._run.add(name, query.select, **options)
        self._there.append(name)
        self.sent["add"] += 1

    def _drop(self) -> None:
        self._run.drop(self._there.popleft())
        self.sent["drop"] += 1

    def _alter(self) -> None:
        self.altered.append(f"{MOVING}_{len(self.altered):03}")
        self._run.alter(MOVING, **sink(self._folder, self.altered[-1]))
        self.sent["alter"] += 1

    def _ask(self) -> None:
        name = _ASKED[self.sent["answer"] % len(_ASKED)]
        self.answered += self._run.answer(name, _TIMEOUT_S).num_rows
        self.sent["answer"] += 1

    def _command(self) -> None:
        """As an operator would, in another process."""
        command = [
            sys.executable,
            "-m",
            "eddyline",
            "answer",
            "busy",
            "--format",
            "csv",
            "--patience",
            "120",
        ]
        command += ["--checkpoint", str(self._checkpoint)]
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=_TIMEOUT_S, check=False
        )
        if done.returncode:
            raise RuntimeError(f"eddyline answer: {done.stderr}")
        self.answered += max(0, done.stdout.count("\n") - 1)
        self.sent["command"] += 1
