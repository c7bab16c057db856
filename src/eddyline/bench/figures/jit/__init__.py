"""Section VI of Yang and Papadias 2008: the savings of joins that make only required results.

Engines are made by the public surface; the reactive form is ``bench.comparison.reactive``.
"""

from eddyline.bench.figures.jit.run import run_jit

__all__ = ["run_jit"]
