"""The command line: one file per verb, shared options, and one place that turns errors into lines and exit codes.

A verb's module imports nothing heavy at its top (a test lists what counts as heavy): what a job needs is imported
inside the verb, so that `whybox --help` stays fast.
"""
