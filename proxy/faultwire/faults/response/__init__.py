"""Faults that break the response as HTTP."""
