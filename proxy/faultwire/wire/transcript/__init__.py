"""Transcripts of exchanges, for readers."""
