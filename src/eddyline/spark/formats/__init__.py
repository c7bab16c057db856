"""Formats of rows in files: their options, and how rows are read and written."""
