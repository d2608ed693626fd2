"""Chaos engineering for AI agents, on the wire."""
