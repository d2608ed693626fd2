"""Profiles: which faults, on which exchanges, how often. `load` reads them, `model` says what they are."""
