"""Engines: the same weights, run where every site can be seen and changed."""
