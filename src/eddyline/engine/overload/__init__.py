"""Which share of the rows is kept when all are too many."""
