"""Figures 6 to 10 of Ayad and Naughton 2004, and the model against the running engine.

Besides the public surface this uses the join model of ``optimizer.joins`` and its settings in
``bench.comparison.shedding``: the paper's figures are results of the model alone.
"""

from eddyline.bench.figures.static_optimization.run import run_static_optimization

__all__ = ["run_static_optimization"]
