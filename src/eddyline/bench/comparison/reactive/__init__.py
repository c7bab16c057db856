"""Reactive feedback: joins suspend rows after their first results."""

from eddyline.bench.comparison.reactive.tree import REACTIVE

__all__ = ["REACTIVE"]
