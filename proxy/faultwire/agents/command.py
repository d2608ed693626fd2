"""An agent that is a command: one process per invocation.

The prompt goes into its arguments, to its stdin or into a file, and the answer is what it prints, a place
in that, or a file that it writes.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
import tempfile
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from faultwire.agents._answer import AnswerPath, Missed
from faultwire.agents._dial import Dialler
from faultwire.agents._process import KEPT, UNSAID, Processes, without_nul
from faultwire.agents._reset import NO_RESET
from faultwire.errors import AgentError, ConfigError
from faultwire.events import AgentResult

if TYPE_CHECKING:
    from collections.abc import Mapping

    from faultwire.agents._api import Asked
    from faultwire.agents._process import Ended
    from faultwire.agents._reset import Resetting

PLACEHOLDER = "{prompt}"
TURNS = "{turns}"
FILES = {"{prompt_file}": PLACEHOLDER, "{turns_file}": TURNS}
"""Places for the path of a file, and what the file holds."""
SESSION = "{session}"
NO_ANSWER = 1
"""The exit code of an agent that ended well and did not give its answer where it was to give it."""


@dataclass(frozen=True)
class CommandAgent:
    """How to start an agent. `command` is run as it stands, by no shell.

    The prompt goes where an argument holds `{prompt}`, into the file that `{prompt_file}` names, or to
    stdin (`stdin`). A conversation goes as one JSON list of its turns where an argument holds `{turns}`
    or `{turns_file}`, or to stdin (`stdin_turns`). Without a limit of its own, an invocation is stopped
    after `timeout_s`, with every process that it started.
    """

    command: tuple[str, ...]
    stdin: bool = False
    timeout_s: float = 30.0
    cwd: Path | None = None
    kept: int = KEPT
    env: Mapping[str, str | None] = field(default_factory=dict)
    """Variables to set on top of a session's environment, or (None) to take out of it."""
    stdin_turns: bool = False
    answer_path: AnswerPath | None = None
    """Where the answer stands in what it prints, or writes."""
    answer_file: str | None = None
    """A file that it writes; `{session}` in it, and in the command, is the invocation's own word."""
    resetting: Resetting = NO_RESET
    _processes: Processes = field(default_factory=Processes, init=False, repr=False, compare=False)
    _dialler: Dialler = field(default_factory=Dialler, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Refuse settings under which the agent would never see a prompt."""
        if not self.command:
            raise ConfigError("found an empty `command`, expected a program", code="config.invalid_value")
        places = (PLACEHOLDER, TURNS, *FILES)
        if not (self.stdin or self.stdin_turns or any(p in part for part in self.command for p in places)):
            raise ConfigError(
                f"found no `{PLACEHOLDER}` in `command`, expected a place for the prompt",
                code="config.no_prompt",
                hint=f"write `{PLACEHOLDER}` as an argument, or set `stdin: true`",
            )

    @property
    def label(self) -> str:
        """The program and its script; other arguments may hold secrets."""
        script = next((part for part in self.command[1:] if _is_plain(part)), "")
        return f"{Path(self.command[0]).name} {Path(script).name}".strip()

    @property
    def takes_turns(self) -> bool:
        """Can it be asked a conversation of several turns?"""
        return self.stdin_turns or any(p in part for part in self.command for p in (TURNS, "{turns_file}"))

    @property
    def concurrent(self) -> bool:
        """A reset, or one file for all answers, allows one invocation at a time."""
        return not self.resets and (self.answer_file is None or SESSION in self.answer_file)

    @property
    def network(self) -> bool:
        """It is not reached by HTTP."""
        return False

    @property
    def resets(self) -> bool:
        """Is it made to forget before each invocation?"""
        return self.resetting.any

    def reset(self, env: Mapping[str, str]) -> None:
        """Make it forget. Raises AgentError where that fails."""
        self.resetting.reset(self._processes, self._dialler)

    def invoke(self, asked: Asked, env: Mapping[str, str]) -> AgentResult:
        """Run the agent once and wait for its end. Raises AgentError where it does not start.

        A prompt that cannot be passed to it does not end the run: its outcome is unknown.
        """
        try:
            return self._run(asked, env)
        except AgentError as error:
            if error.code != UNSAID:
                raise
            return AgentResult("", None, 0.0, f"faultwire: {error.message}; {error.hint}")

    def _run(self, asked: Asked, env: Mapping[str, str]) -> AgentResult:
        word = session_word(asked.session)
        variables = {k: v for k, v in {**env, **self.env}.items() if v is not None}
        wanted = self._answer_place(word)
        with ExitStack() as files:
            command = self._command(asked, word, files)
            if wanted is not None:
                wanted.unlink(missing_ok=True)
            ended = self._processes.run(
                command,
                variables,
                data=self._data(asked),
                timeout_s=self.timeout_s,
                cwd=self.cwd,
                kept=self.kept,
                watch=asked.watch,
            )
        result = AgentResult(ended.stdout, ended.code, ended.duration_s, ended.stderr, ended.timed_out)
        return self._answered(result, ended, wanted)

    def stop(self) -> None:
        """Kill every running invocation, and each that starts later; their `invoke` calls return."""
        self._processes.stop()
        self._dialler.stop()

    # ------------------------------------------------------------ what goes in

    def _data(self, asked: Asked) -> bytes | None:
        if self.stdin_turns:
            return json.dumps(asked.turns).encode()
        return asked.text.encode("utf-8", "surrogatepass") if self.stdin else None

    def _command(self, asked: Asked, word: str, files: ExitStack) -> list[str]:
        """The command with everything in its place. One pass: what is put in is not looked at again."""
        placeholders = {PLACEHOLDER: asked.text, TURNS: json.dumps(asked.turns)}
        wanted = {place for place in FILES if any(place in part for part in self.command)}
        values = {SESSION: word}
        if wanted:
            folder = Path(files.enter_context(tempfile.TemporaryDirectory(prefix="faultwire-prompt-")))
            for place in wanted:
                path = folder / f"{place.strip('{}')}.txt"
                path.write_bytes(placeholders[FILES[place]].encode("utf-8", "surrogatepass"))
                values[place] = str(path)
        if not (self.stdin or self.stdin_turns):
            values |= placeholders
        return [_filled(part, values) for part in self.command]

    def _answer_place(self, word: str) -> Path | None:
        if self.answer_file is None:
            return None
        return (self.cwd or Path()) / self.answer_file.replace(SESSION, word)

    # ------------------------------------------------------------ what comes out

    def _answered(self, result: AgentResult, ended: Ended, wanted: Path | None) -> AgentResult:
        """The result with the answer from where it is to be; without one, it did not end well."""
        if wanted is None and self.answer_path is None:
            return result
        try:
            output = ended.stdout if wanted is None else _read(wanted, self.kept)
            if wanted is None and ended.cut:
                raise Missed(f"found more than {self.kept} bytes on stdout, expected JSON")
            return replace(
                result, answer=output if self.answer_path is None else self.answer_path.find(output)
            )
        except Missed as missed:
            why = f"faultwire: no answer: {missed}"
            stderr = f"{result.stderr.rstrip()}\n{why}\n".lstrip()
            misplaced = str(missed) if missed.misplaced and result.exit_code == 0 else ""
            code = result.exit_code or NO_ANSWER
            return replace(result, answer="", exit_code=code, stderr=stderr, misplaced=misplaced)


def session_word(session: str) -> str:
    """An invocation's id as a file name: readable, and never that of another one."""
    plain = "".join(c if c.isascii() and (c.isalnum() or c in "._-") else "-" for c in session)[:60]
    return f"{plain.lstrip('.-') or 'session'}-{hashlib.sha256(session.encode()).hexdigest()[:8]}"


def _filled(part: str, values: Mapping[str, str]) -> str:
    """A part of a command with every place filled, from the left."""
    done, rest = "", part
    while rest:
        at, place = min(((i, p) for p in values if (i := rest.find(p)) >= 0), default=(-1, ""))
        if at < 0:
            break
        value = without_nul(values[place])
        done, rest = done + rest[:at] + value, rest[at + len(place) :]
    return done + rest


def _read(path: Path, limit: int) -> str:
    """A file that the agent wrote; never waits for a pipe. Raises Missed."""
    try:
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise Missed(f"found no regular file `{path.name}`, expected the answer in it")
            data = file.read(limit + 1)
    except OSError as error:
        text = f"found no file `{path.name}` ({error.strerror}), expected the answer in it"
        raise Missed(text, misplaced=True) from None
    if len(data) > limit:
        raise Missed(f"found more than {limit} bytes in `{path.name}`, expected the answer")
    return data.decode("utf-8", "replace")


def _is_plain(part: str) -> bool:
    """Is it a script or a module, as far as its looks go?"""
    return "." in part and not part.startswith("-") and not set(part) & set("={}@: \n")
