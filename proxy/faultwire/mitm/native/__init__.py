"""The native path: TLS and HTTP/1.1 of a tunnel in the core, inside mitmproxy's process."""
