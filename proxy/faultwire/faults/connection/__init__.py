"""Faults that break the connection."""
