"""What runs in the agent's interpreter: one file, alone in its folder, so that it shadows nothing."""
