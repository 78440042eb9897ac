"""A chapter is two files: its words (`l04.yaml`) and what they are computed with (`l04.py`)."""
