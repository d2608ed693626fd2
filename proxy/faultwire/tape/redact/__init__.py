"""What must not reach a tape, and how it is taken out."""
