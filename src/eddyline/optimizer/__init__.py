"""Logical plans to cheaper ones with the same answer."""
