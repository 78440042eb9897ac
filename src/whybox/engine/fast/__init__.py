"""The fast engine: torch, cached, batched, in several precisions. Nothing outside this package imports torch."""
