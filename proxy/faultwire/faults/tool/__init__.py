"""Faults that break what a tool gave back."""
