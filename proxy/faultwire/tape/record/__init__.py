"""Recording onto a tape: queue, encoder, one writer."""
