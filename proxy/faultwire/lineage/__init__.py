"""Lineage: which bytes of an answer reached which later request, read from recorded exchanges alone."""
