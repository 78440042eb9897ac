"""Capacity on paper: parameters, bytes, FLOPs and KV cache of a model, from its file or from its configuration alone.

`outline.py` is what sizes follow from; a `Spec` gives one, and so does the config.json of a family that whybox does not
run (`configs/`). Every number is a `Figure`: its value beside its formula and the numbers that went in.
"""
