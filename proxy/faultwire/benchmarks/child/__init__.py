"""What runs in a benchmark's interpreter, and the agent of the controls: nothing of ours is imported."""
