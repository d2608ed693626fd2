"""Ollama Chat and Generate."""
