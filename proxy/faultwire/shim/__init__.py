"""An MCP server that speaks stdio, put on the wire: agent ⇄ shim → proxy → bridge ⇄ server."""
