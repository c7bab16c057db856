"""Peers in Python: programs that ``eddyline.bench.peers.process`` starts and talks to."""
