"""Errors of a set-up that cannot be right, known from how all invocations of a plan ended.

They end the run: a score of an agent that was never at work, or whose answers were looked for in the wrong
place, says nothing about it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from faultwire.checks._api import quoted
from faultwire.contract.silence import key_variable, missing_key
from faultwire.errors import CaptureError, ConfigError
from faultwire.tape.redact.redactor import Redactor, fresh_key

if TYPE_CHECKING:
    from collections.abc import Sequence

    from faultwire.contract.cells import Invocation
    from faultwire.errors import FaultwireError
    from faultwire.events import AgentResult, History

    Played = tuple[Invocation, History]


class Reached(Protocol):
    """What is asked of an agent here."""

    @property
    def network(self) -> bool:
        """Is it reached by HTTP?"""


def flaw(results: Sequence[Played], asked: Reached) -> FaultwireError | None:
    """What is wrong with the set-up; None where at least one invocation shows that it works.

    CaptureError where no invocation sent anything through the proxy, ConfigError where answers came and none
    of them stood where the configuration says.
    """
    if not results or any(history.voids for _, history in results):
        return None
    if not any(history.exchanges for _, history in results):
        return _silent(results, asked)
    return _misplaced(results, asked)


def clean(text: str) -> str:
    """A text without what looks like a secret: what stopped an agent may have printed its keys."""
    return Redactor(fresh_key()).text(text, {})


def _misplaced(results: Sequence[Played], asked: Reached) -> ConfigError | None:
    """Changed prompts and requests are left out: what an agent answers to these may have another form."""
    plain = [history.agent for invocation, history in results if invocation.prompt.origin is None]
    ended = [agent for agent in plain if agent is not None]
    where = [agent.misplaced for agent in ended if agent.misplaced]
    if not where or any(agent.exit_code == 0 for agent in ended):
        return None
    field = "response_path" if asked.network else "answer_path` or `answer_file"
    count = "the only answer" if len(where) == 1 else f"none of {len(where)} answers"
    verb = "does not stand" if len(where) == 1 else "stands"
    return ConfigError(
        f"{count} of the agent {verb} where `agent` looks for it: {clean(where[0])}",
        code="config.answer_not_found",
        hint=f"correct `{field}`: nothing was scored, because these answers were never read",
    )


def _silent(results: Sequence[Played], asked: Reached) -> CaptureError:
    ended = [history.agent for _, history in results if history.agent is not None]
    times = "once" if len(results) == 1 else f"{len(results)} times"
    if ended and all(agent.timed_out for agent in ended):
        longest = max(agent.duration_s for agent in ended)
        return CaptureError(
            f"the agent ran {times}, and was stopped at its timeout each time (after {longest:.1f} s) "
            f"without a request through the proxy{_last(ended)}",
            code="capture.timeout",
            hint="raise `agent.timeout` (milliseconds), or see what it waits for: its input, or a connection "
            "past the proxy (`faultwire doctor -- CMD`)",
        )
    lines = [missing_key(agent.stderr) for agent in ended if agent.exit_code != 0]
    if lines and len(lines) == len(ended) and lines[0] is not None and all(lines):
        name = key_variable(lines[0]) or "the variable that its SDK reads"
        return CaptureError(
            f"the agent ran {times} and ended before its first request, because its SDK has no API key: "
            f"{quoted(clean(lines[0]), 200)}",
            code="capture.no_key",
            hint=f"set {name if ' ' in name else f'`{name}`'}, and hand it on in `agent.env`; with "
            "`proxy: {mock: true}` any value will do",
        )
    refused = [line for line in map(_faultwire_line, ended) if line]
    if asked.network and refused and len(refused) == len(ended):
        return CaptureError(
            f"the agent was asked {times} and was never at work: {quoted(clean(refused[0]), 200)}",
            hint="see `agent.endpoint`, `method`, `headers` and `request_template`; its server must run, "
            "by `agent.start` or with the variables in `agent.env` in the run's folder",
        )
    return CaptureError(
        f"the agent ran {times} and sent no traffic through the proxy{_last(ended)}",
        hint="start its server with `agent.start`, or with the variables in `agent.env` in the run's folder"
        if asked.network
        else "its runtime must honour HTTPS_PROXY and the CA file; `faultwire doctor -- CMD` shows details",
    )


def _faultwire_line(agent: AgentResult) -> str:
    """Why a server gave no answer, in our own words; empty where it gave one."""
    if agent.exit_code == 0:
        return ""
    lines = agent.stderr.splitlines()
    return next((ours for line in lines if (ours := line.removeprefix("faultwire: the agent ")) != line), "")


def _last(ended: Sequence[AgentResult]) -> str:
    stderr = ended[0].stderr if ended else ""
    line = next((line for line in reversed(stderr.splitlines()) if line.strip()), "")
    return f"; its last output line: {quoted(clean(line), 200)}" if line else ""
