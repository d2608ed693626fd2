"""Tapes: the recorded traffic, redacted, chained and durable. See `docs/reference/tapes.md`."""
