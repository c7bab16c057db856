"""Pictures of concepts, drawn from what an engine answers."""
