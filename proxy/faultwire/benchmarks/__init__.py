"""Published benchmarks of agents under attack, on the wire: their tasks and their judges, our attacks."""
