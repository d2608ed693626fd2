"""Contracts: which verdicts make up a matrix, and the score over them."""
