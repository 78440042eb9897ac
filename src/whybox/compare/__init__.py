"""Two runs of the same weights: where they part, and which one difference between them is to blame."""
