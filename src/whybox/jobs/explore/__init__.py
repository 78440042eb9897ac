"""What a page of the explorer asks: a prompt read, compared with its changes, written on."""

from whybox.jobs.explore.desk import Desk, Written

__all__ = ["Desk", "Written"]
