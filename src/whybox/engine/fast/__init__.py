"""The fast engine: the same sites and the same numbers as the reference, in torch."""
