"""whybox: understanding and testing language models by mechanism.

A black box tells you what. whybox tells you why, and proves it.
"""

__version__ = "0.1.0"
