"""How a runtime is made to send its traffic through the proxy, and to trust it."""
