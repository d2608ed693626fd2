"""Faults that break single events of a live stream."""
