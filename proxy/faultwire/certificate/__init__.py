"""Certificates: a signed statement of what a run showed, in the envelope that supply-chain tools read.

`issue` makes one from a run's folder, `verify` judges one, `shape` says what is in it.
"""
