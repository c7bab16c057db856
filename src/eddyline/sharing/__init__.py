"""Which queries share what: signatures, and predicates in the form that grouped filters index."""
