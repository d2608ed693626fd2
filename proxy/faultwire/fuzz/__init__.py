"""Fuzzing of the agent: generated prompts, tool results and messages of MCP, led by what the agent does."""
