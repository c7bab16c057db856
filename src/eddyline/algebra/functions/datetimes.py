"""Functions of datetimes."""
