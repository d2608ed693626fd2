"""Answering from a tape: what matches, what does not, and why. No socket, no clock."""
