"""What says that a run failed: the agent's exit code, checks, or a command of the user's."""

from __future__ import annotations

import os
import shlex
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from faultwire.agents._process import Processes
from faultwire.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from faultwire.checks._api import Check
    from faultwire.events import History

UNTESTABLE = 125
"""The exit code by which a command says that it cannot judge a run, as for `git bisect run`."""
LIMIT_S = 60.0


@dataclass(frozen=True, slots=True)
class ExitCode:
    """A run fails if the agent exits with anything but 0, or does not end in time."""

    @property
    def description(self) -> str:
        """In words."""
        return "the agent's exit code is not 0"

    def judge(self, history: History, tape: Path) -> tuple[bool | None, str]:
        """Did it?"""
        agent = history.agent
        if agent is None or (agent.exit_code is None and not agent.timed_out):
            return None, "the agent's exit is unknown"
        if agent.timed_out:
            return True, f"the agent was stopped after {agent.duration_s:.1f} s"
        return agent.exit_code != 0, f"the agent exited with {agent.exit_code}"


@dataclass(frozen=True, slots=True)
class Checks:
    """A run fails if a check fails; it cannot be judged if one is unknown and none fails."""

    checks: tuple[Check, ...]

    @property
    def description(self) -> str:
        """In words."""
        return f"a check fails: {', '.join(check.label for check in self.checks)}"

    def judge(self, history: History, tape: Path) -> tuple[bool | None, str]:
        """Did one?"""
        verdicts = [(check.label, check.verdict(history)) for check in self.checks]
        for wanted, failed in (("fail", True), ("unknown", None)):
            for label, verdict in verdicts:
                if verdict.verdict == wanted:
                    return failed, f"{label}: {verdict.explanation}"
        return False, "every check passes"


@dataclass(frozen=True, slots=True)
class Command:
    """A run fails if a command exits with anything but 0; 125 says that it cannot judge.

    It gets the agent's output on stdin, and `FAULTWIRE_TAPE`, `FAULTWIRE_SESSION` (the session to judge) and
    `FAULTWIRE_EXIT_CODE` in its environment.
    """

    command: tuple[str, ...]
    _processes: Processes = field(default_factory=Processes, repr=False, compare=False)

    @classmethod
    def parse(cls, text: str) -> Command:
        """From one line, split as a shell does; no shell runs it. Raises UsageError."""
        try:
            parts = tuple(shlex.split(text))
        except ValueError as error:
            raise UsageError(
                f"found `--oracle` that cannot be split: {error}", code="oracle.command"
            ) from None
        if not parts:
            raise UsageError("found an empty `--oracle`, expected a command", code="oracle.command")
        return cls(parts)

    @property
    def description(self) -> str:
        """In words; arguments may hold secrets."""
        return f"`{self.command[0]}` exits with anything but 0"

    def judge(self, history: History, tape: Path) -> tuple[bool | None, str]:
        """Run it. Raises AgentError where it does not start."""
        agent = history.agent
        exit_code = "" if agent is None or agent.exit_code is None else str(agent.exit_code)
        ended = self._processes.run(
            self.command,
            {
                **os.environ,
                "FAULTWIRE_TAPE": str(tape.absolute()),
                "FAULTWIRE_EXIT_CODE": exit_code,
                "FAULTWIRE_SESSION": history.session,
            },
            data=agent.answer.encode("utf-8", "replace") if agent is not None else b"",
            timeout_s=LIMIT_S,
        )
        if ended.timed_out or ended.code == UNTESTABLE:
            return (
                None,
                "the oracle's command took too long" if ended.timed_out else "the oracle cannot judge",
            )
        return ended.code != 0, f"the oracle's command exited with {ended.code}"
