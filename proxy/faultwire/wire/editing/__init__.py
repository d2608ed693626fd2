"""Editing requests, answers and streams byte by byte: what the protocols share."""
