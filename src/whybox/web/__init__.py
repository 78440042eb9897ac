"""The explorer: the mechanism in a browser."""
