"""The engine: one process with one event loop, its sessions and its control socket."""
