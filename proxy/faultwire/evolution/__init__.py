"""Mutants of mutants: a search for prompts that an agent fails, with the lineage of each."""
