"""Numba kernels: NumPy arrays in, arrays out. They import nothing else of Eddyline.

Every time is int64 microseconds. A *change* is ordered by the pair ``(ts, seq)``: expiry-driven
changes carry ``seq = -1`` and so precede the arrivals of their instant.
"""
