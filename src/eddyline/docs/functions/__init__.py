"""The page of all functions, with an example of each."""
