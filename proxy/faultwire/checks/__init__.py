"""Checks: one invariant a file, pure over the history of one session."""
