"""An agent that is an object in the user's Python: a function, a class, a runnable.

It is imported and called in a child interpreter, never in ours, once per invocation.
"""

from __future__ import annotations

import json
import shutil
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from faultwire.agents._dial import Dialler
from faultwire.agents._process import KEPT, Processes
from faultwire.agents._reset import NO_RESET, failed
from faultwire.agents.command import session_word
from faultwire.errors import AgentError
from faultwire.events import AgentResult
from faultwire.text import safe

if TYPE_CHECKING:
    from collections.abc import Mapping

    from faultwire.agents._api import Asked, Watch
    from faultwire.agents._process import Ended
    from faultwire.agents._reset import Resetting

CHILD = Path(__file__).parent / "child" / "ask.py"
"""What runs in the child interpreter."""
INTERPRETER = "python3"
"""The interpreter where none is named: the first of this name in PATH."""


@dataclass(frozen=True)
class PythonAgent:
    """Whom to ask: `endpoint` is `module:attr`, found from `cwd` on; the rest is as for a command.

    With `langchain`, it is asked as a runnable; `key` is then the member of its input that holds the
    prompt.
    """

    endpoint: str
    python: str = INTERPRETER
    cwd: Path | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    timeout_s: float = 30.0
    langchain: bool = False
    key: str = "input"
    kept: int = KEPT
    resetting: Resetting = NO_RESET
    _processes: Processes = field(default_factory=Processes, init=False, repr=False, compare=False)
    _dialler: Dialler = field(default_factory=Dialler, init=False, repr=False, compare=False)

    @property
    def label(self) -> str:
        """What is asked."""
        return f"{'langchain' if self.langchain else 'python'} {self.endpoint}"

    @property
    def concurrent(self) -> bool:
        """A reset allows one invocation at a time."""
        return not self.resets

    @property
    def network(self) -> bool:
        """It is not reached by HTTP."""
        return False

    @property
    def resets(self) -> bool:
        """Is something made to forget before each invocation?"""
        return self.resetting.any

    def reset(self, env: Mapping[str, str]) -> None:
        """Make it forget. Raises AgentError where that fails."""
        self.resetting.reset(self._processes, self._dialler)

    def invoke(self, asked: Asked, env: Mapping[str, str]) -> AgentResult:
        """Ask it once, turn by turn. Raises AgentError where there is nothing to ask."""
        orders = {
            "endpoint": self.endpoint,
            "turns": asked.turns,
            "langchain": self.langchain,
            "key": self.key,
            "session": session_word(asked.session),
        }
        variables = {**env, **self.env}
        ended = run_child(
            self._processes, self.python, orders, variables, self.cwd, self.timeout_s, self.kept, asked.watch
        )
        message = _word(ended)
        if "absent" in message:
            raise AgentError(
                f"the agent `{self.endpoint}` cannot be reached: {safe(message['absent'])}",
                hint="`agent.cwd` sets where modules are searched, `agent.python` sets the interpreter",
            )
        stderr = "\n".join(
            filter(None, (ended.stderr.rstrip(), ended.stdout.rstrip(), _lost(ended, message)))
        )
        code = ended.code if ended.code or "answer" in message else 1
        return AgentResult(message.get("answer", ""), code, ended.duration_s, stderr, ended.timed_out)

    def stop(self) -> None:
        """Kill every running invocation, and each that starts later; their `invoke` calls return."""
        self._processes.stop()
        self._dialler.stop()


def call_function(
    function: str,
    python: str,
    env: Mapping[str, str],
    cwd: Path | None,
    timeout_s: float,
    processes: Processes,
) -> None:
    """Call `module:function`, which makes an agent forget. Raises AgentError where that fails."""
    ended = run_child(processes, python, {"function": function}, env, cwd, timeout_s)
    message = _word(ended)
    if "absent" in message:
        raise failed(f"`{function}`: {safe(message['absent'])}")
    if "answer" not in message or ended.code:
        how = f"took more than {timeout_s:g} s" if ended.timed_out else "raised"
        raise failed(f"`{function}` {how}", ended.stderr)


def run_child(
    processes: Processes,
    python: str,
    orders: Mapping[str, object],
    env: Mapping[str, str],
    cwd: Path | None,
    timeout_s: float,
    kept: int = KEPT,
    watch: Watch = nullcontext,
) -> Ended:
    """Run `child/ask.py` in an interpreter. Raises AgentError where that does not start."""
    program = shutil.which(python, path=env.get("PATH")) or python
    return processes.run(
        (program, str(CHILD), "{fd}"),
        env,
        data=json.dumps(orders).encode(),
        timeout_s=timeout_s,
        cwd=cwd,
        kept=kept,
        message_pipe=True,
        watch=watch,
    )


def _word(ended: Ended) -> dict[str, str]:
    """The child's message about its result; empty where it did not finish."""
    try:
        message = json.loads(ended.message) if ended.message and not ended.cut else {}
    except ValueError:
        return {}
    return {k: v for k, v in message.items() if isinstance(v, str)} if isinstance(message, dict) else {}


def _lost(ended: Ended, message: Mapping[str, str]) -> str:
    """Why there is no answer though it ended well."""
    if message or ended.code:
        return ""
    return "faultwire: no answer: Python exited before the agent answered, or the answer is too long"
