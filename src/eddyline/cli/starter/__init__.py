"""``eddyline new``: a script for data that are there, from a sample of them."""
