"""An engine as a file, and a new one that goes on from it."""
