"""A whole run from a configuration: its phases played, scored, and written up."""
