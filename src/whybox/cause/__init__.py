"""Changes and what they did: cut, boosted, removed, moved, each beside its noise floor and its null. Effects only."""
