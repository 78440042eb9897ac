"""The child process in which a learner's code runs. Only the standard library and numpy are imported here."""
