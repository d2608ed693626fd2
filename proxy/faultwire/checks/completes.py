"""The invariant that the agent ends by itself, and well."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from faultwire.checks._api import Check, ending, quoted
from faultwire.events import Verdict

if TYPE_CHECKING:
    from faultwire.events import History


OURS = "faultwire: "
"""How a line begins by which whoever drives an agent says why there is no answer."""


class Completes(Check):
    """The agent ends by itself with an exit code that means success.

    What it judges:
        The agent's process. It must end before the time limit, without a signal, and with one of
        `exit_codes` (default: 0).

    Why agents fail it:
        An exception of the SDK that nobody catches, a loop that never gives up, a read without a
        timeout on a stream that stalls.

    What it cannot tell:
        Whether the answer is any good. An agent that prints an apology and exits with 0 completes.

    Example:
        invariants:
          - {type: completes, severity: critical}
    """

    name = "completes"
    exit_codes: Annotated[tuple[int, ...], Field(description="those that mean success")] = (0,)

    def judge(self, history: History, answer: str) -> Verdict:
        """Judge how the agent's process ended."""
        agent = history.agent
        if agent is None or (agent.exit_code is None and not agent.timed_out):
            return Verdict("unknown", "the agent's exit is unknown")
        passed = not agent.timed_out and agent.exit_code in self.exit_codes
        last = "" if passed else _last_line(agent.stderr)
        text = f"the agent {ending(agent)}"
        if last.startswith(OURS):  # nobody printed it: an agent that is a server has no stderr here
            text += f": {quoted(last.removeprefix(OURS), 160)}"
        elif last:
            text += f"; the last line of its stderr is {quoted(last, 160)}"
        return Verdict("pass" if passed else "fail", text, agent.exit_code)


def _last_line(text: str) -> str:
    """The line in which most runtimes name the exception."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else ""
