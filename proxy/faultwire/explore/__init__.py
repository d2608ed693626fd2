"""The search for faults that break an agent which is fine so far."""
