"""What runs inside of the agent's process, and needs nothing but the standard library."""
