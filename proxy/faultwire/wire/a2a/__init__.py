"""A2A: agents that talk to agents, over JSON-RPC and HTTP+JSON."""
