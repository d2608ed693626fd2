"""Tapes as files: finding, copying, appending, pruning."""
