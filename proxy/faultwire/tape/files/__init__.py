"""Tapes as files: the SQLite schema, finding, copying, appending, pruning."""
