"""The native path beside mitmproxy's own: the same script of a client and a server on both, compared."""
