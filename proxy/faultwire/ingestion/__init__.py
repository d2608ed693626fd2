"""Events that agents report of themselves, taken over HTTP and kept on tapes.

The interface is that of AgentOps Replay's ingestion service (ELS 1.0), so that its SDK sends here unchanged,
and its verifier passes what is exported. What is kept is what the agent said, in the order in which it was
received; nobody saw it on a wire.
"""
