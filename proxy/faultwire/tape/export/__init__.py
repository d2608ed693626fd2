"""Tapes in the formats of other tools."""
