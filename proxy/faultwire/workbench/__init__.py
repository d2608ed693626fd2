"""Tapes to look at: a page of one tape in a single file, and the local web server of `faultwire ui`."""
