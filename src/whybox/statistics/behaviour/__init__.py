"""What the eight probes estimate, as pure functions of tables of outcomes. One file a probe; it runs nothing.

Tables are [item arm run] (`whybox.statistics.calls`). Sentences, gates' limits and sizes belong to the probes.
"""
