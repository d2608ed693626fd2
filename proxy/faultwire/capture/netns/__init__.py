"""A user, network and mount namespace for a command, in which every address is ours (Linux, no root)."""
