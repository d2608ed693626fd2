"""The demonstration: a small real agent, broken on the wire."""
