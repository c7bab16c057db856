"""Nodes of logical plans, by kind; ``eddyline.algebra.plan`` has all of them."""
