"""The sessions of an engine, and whose a connection or a call is."""
