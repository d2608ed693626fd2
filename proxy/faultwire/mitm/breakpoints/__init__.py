"""Breakpoints: an exchange is held, looked at, changed by hand, and goes on."""
