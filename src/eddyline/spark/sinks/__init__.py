"""Destinations of the rows of queries and side outputs."""
