"""Why an agent sent nothing: in words that are true of how it ended."""

from __future__ import annotations

from typing import TYPE_CHECKING

from faultwire._core import Regex

if TYPE_CHECKING:
    from faultwire.events import AgentResult

LINES = 30
"""Last lines of what an agent printed in which its reason is looked for."""
LONGEST = 600
"""Characters of such a line."""
_NO_KEY = Regex(
    r"(?i)(api[ _-]?key|credentials?|auth_token|api[ _-]?token)\b.{0,160}\b(be set|missing|not set|not found|"
    r"required|not provided|not configured|empty)\b"
    r"|\b(missing|no|unable to locate|could not resolve|could not find|did not find)\b.{0,80}"
    r"\b(api[ _-]?key|credentials|authentication method)\b"
)
"""How the SDKs of OpenAI, Anthropic, Google, Groq, Mistral, Cohere and AWS say that they have no key."""
_VARIABLE = Regex(r"\b[A-Z][A-Z0-9]*(_[A-Z0-9]+)*_(KEY|TOKEN)\b")


def missing_key(stderr: str) -> str | None:
    """The line in which an SDK says that it has no key; None where no line does."""
    lines = [line.strip()[:LONGEST] for line in stderr.splitlines() if line.strip()][-LINES:]
    return next((line for line in reversed(lines) if _NO_KEY.search(line) is not None), None)


def key_variable(line: str) -> str | None:
    """The environment variable for a key that a line names."""
    found = _VARIABLE.search(line)
    return line[found[0] : found[1]] if found is not None else None


def why_silent(agent: AgentResult | None) -> str:
    """Why an invocation has no exchange, as far as its end shows."""
    if agent is not None and agent.timed_out:
        return "the agent was stopped at its timeout, and had sent no traffic through the proxy"
    if agent is None or agent.exit_code in (0, None):
        return "the agent sent no traffic through the proxy"
    line = missing_key(agent.stderr)
    if line is None:
        return f"the agent exited with {agent.exit_code} before it sent any traffic through the proxy"
    name = key_variable(line)
    named = f" (`{name}`)" if name else ""
    return f"the agent exited with {agent.exit_code}: its SDK found no API key{named}, and sent no request"
