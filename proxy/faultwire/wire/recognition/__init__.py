"""Telling what an exchange is from its head and body."""
