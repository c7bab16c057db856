"""Joins that serve many windows at once, and whose results come first."""
