"""Bots whose truth is known: as targets in this process (`process.py`), and behind an address (`server.py`)."""
