"""Faults that plant text where the model reads it: in tool results and in the conversation."""
