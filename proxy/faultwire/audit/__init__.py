"""Why two runs of one seed differ, found by experiment: one source of chance is held fixed at a time."""
