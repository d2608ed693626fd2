"""A search for the attack that an agent obeys: which family, carried how, placed where, in which wording."""
