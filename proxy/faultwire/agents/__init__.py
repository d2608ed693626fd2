"""Ways to run an agent. It is always a process of its own; ours never imports its code."""
