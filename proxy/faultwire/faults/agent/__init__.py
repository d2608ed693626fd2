"""Faults between agents: on what one asks of another, by the name of either."""
