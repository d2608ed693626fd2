"""Tapes out of what others recorded: browsers, mitmproxy, tracefork, AgentOps Replay."""
