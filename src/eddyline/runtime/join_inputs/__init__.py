"""What a probe can see of a join's input: visible rows by key."""
