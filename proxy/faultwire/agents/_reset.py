"""Resets an agent between cells, so that it forgets the earlier ones: a call, a function or a command.

None of it goes through the proxy: a fault on the way of a reset would be one of ours, not of the world
that the agent lives in.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from faultwire.errors import AgentError
from faultwire.tape.redact.redactor import Redactor, fresh_key
from faultwire.text import safe

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from faultwire.agents._dial import Dialler
    from faultwire.agents._process import Processes

EXCERPT = 200
"""Characters of a failing reset's output that an error quotes."""
HINT = "a cell whose reset fails is inconclusive, because the agent may remember earlier cells"


@dataclass(frozen=True, slots=True)
class Resetting:
    """How an agent is made to forget; each part raises AgentError where it fails.

    `call` does it over HTTP; `command` is a process of its own; `function` calls something in the
    agent's interpreter.
    """

    call: Callable[[Dialler], None] | None = None
    command: tuple[str, ...] = ()
    function: Callable[[Processes], None] | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    cwd: Path | None = None
    timeout_s: float = 30.0

    @property
    def any(self) -> bool:
        """Is there anything to be done?"""
        return bool(self.call or self.command or self.function)

    def reset(self, processes: Processes, dialler: Dialler) -> None:
        """Do it, with the agent's own processes and calls, so that its `stop` ends it. Raises AgentError."""
        if self.call is not None:
            self.call(dialler)
        if self.function is not None:
            self.function(processes)
        if self.command:
            ended = processes.run(
                self.command, os.environ | dict(self.env), cwd=self.cwd, timeout_s=self.timeout_s
            )
            if ended.code or ended.timed_out:
                how = (
                    f"took more than {self.timeout_s:g} s" if ended.timed_out else f"ended with {ended.code}"
                )
                raise failed(f"`{self.command[0]}` {how}", ended.stderr)


NO_RESET = Resetting()


def failed(what: str, output: str = "") -> AgentError:
    """The error of a reset that did not work."""
    line = next((line.strip() for line in reversed(output.splitlines()) if line.strip()), "")
    quoted = f": `{safe(quotable(line, EXCERPT))}`" if line else ""
    return AgentError(f"the agent was not reset: {what}{quoted}", code="agent.reset", hint=HINT)


def quotable(text: str, most: int, *, last: bool = False) -> str:
    """The first (or last) `most` characters of an output, for an error: without what looks like a
    secret, which is looked for before the text is cut, because half of one would not be known as one."""
    near = text[-8 * most :] if last else text[: 8 * most]
    clean = Redactor(fresh_key()).text(near, {})
    return clean[-most:] if last else clean[:most]
