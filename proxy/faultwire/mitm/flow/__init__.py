"""One flow of mitmproxy: its hooks, and the actions on it."""
