"""Targets: whatever can be asked. A local model, an endpoint, a loaded transformers model, a bot; one protocol.

`target.py` is the protocol and its data; `naming.py` leads from a name to a target; `bots/` are targets with a known
truth.
"""
