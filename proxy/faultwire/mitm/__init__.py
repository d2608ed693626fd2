"""The engine: the proxy process, and the only package that knows mitmproxy.

`client` starts and drives an engine from another process; it, `ca` and `settings` import no mitmproxy.
"""
