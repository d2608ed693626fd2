"""Reports: one document per run, and its output formats."""
