"""Flow files of mitmproxy: reading and writing them."""
