"""The optimizer: rewrites logical plans into cheaper ones with the same answer."""
