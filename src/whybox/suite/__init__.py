"""Behaviour tests as a file: which cases, which probes, which gates."""
