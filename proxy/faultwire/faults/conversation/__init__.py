"""Faults on a conversation as it is sent to a model: its messages, and the name it has at the provider."""
