"""Faults that break what the model said."""
