"""One verb, one job, one document."""
