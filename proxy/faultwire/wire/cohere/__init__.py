"""Cohere Chat."""
