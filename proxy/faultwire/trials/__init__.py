"""Repeated trials of one agent: run it offline with chosen faults, and judge each run by an oracle."""
