"""From logical plans to operators that run."""
