"""Faults that break the model's answer."""
