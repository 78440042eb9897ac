"""The version of whybox, below everything that names it."""

__version__ = "0.1.0"
