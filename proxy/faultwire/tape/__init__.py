"""Tapes: what was said on the wire, redacted, chained and durable. See `docs/reference/tapes.md`."""
