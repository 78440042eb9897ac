"""Numbers beside numbers: intervals, ranks against nulls, statistics of attention. Pure functions on arrays."""
