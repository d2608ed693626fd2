"""HTTP messages: mitmproxy's and ours, and those that we answer with ourselves."""
