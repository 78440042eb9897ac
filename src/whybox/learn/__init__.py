"""The course: what the documents claim, recomputed. `whybox learn --claims` is its door."""
