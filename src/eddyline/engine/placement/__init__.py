"""Which queries run together, as trees or flows, and in which order streams are joined."""
