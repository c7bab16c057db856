"""``did_you_mean``: all choices if they are few, the nearest ones if they are many."""

from __future__ import annotations

from eddyline.errors import did_you_mean


def test_few_choices_are_all_listed() -> None:
    assert (
        did_you_mean("prise", ["symbol", "price"]) == "did you mean 'price'? valid: price, symbol"
    )
    assert did_you_mean("x", []) == "there is nothing to choose from"


def test_of_many_choices_the_nearest_are_listed() -> None:
    names = [f"stream_{i}" for i in range(10_000)]
    said = did_you_mean("straem_77", names)
    assert said.startswith("did you mean 'stream_77'? nearest of 10000: stream_77, ")
    assert len(said.split(": ")[1].split(", ")) == 8
