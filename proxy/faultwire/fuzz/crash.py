"""How a run crashed, and which crashes are one: by the stack where it was printed, else by the last calls.

Classes are named for what was seen, and nothing more: `signal` (ended by a signal that is not ours), `hang`
(not over after the time limit), `exception` (not 0, and an uncaught exception was printed), `exit` (not 0,
and none was). A run that exits 0 is no crash, whatever it prints.
"""

from __future__ import annotations

import re  # noqa: TID251 - the patterns are fixed
import signal
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

from faultwire._core import sha256_hex

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from faultwire.events import AgentResult

Kind = Literal["signal", "hang", "exception", "exit"]
KINDS: tuple[Kind, ...] = get_args(Kind)
INNERMOST = 6
"""Frames that tell crashes apart, from where it happened outwards."""
FOREIGN = ("/lib/python3", "/site-packages/", "/dist-packages/", "<frozen ", "/node_modules/", "node:")
"""Parts of paths of standard libraries and installed packages: one mistake shows at many places in there."""
LAST = 3
"""Calls that do, where no stack was printed."""

_PYTHON = re.compile(
    r"Traceback \(most recent call last\):\n((?:[ \t|+].*\n|\n)*)([A-Za-z_][\w.]*)(?::|\n|$)"
)
_PYTHON_FRAME = re.compile(r'File "([^"\n]+)", line (\d+), in (\S+)')
_NODE = re.compile(
    r"^(?:Uncaught )?(?:\[?)([A-Z]\w*(?:Error|Exception))\b[^\n]*\n((?:\s+at .*\n?)+)", re.MULTILINE
)
_NODE_FRAME = re.compile(r"at (?:async )?(?:(.+?) \()?(?:file://)?([^()\s]+?):(\d+):\d+\)?")
_GO = re.compile(r"^(?:panic|fatal error): [^\n]*\n(?:.*\n)*?goroutine \d+[^\n]*\n((?:.*\n?)+)", re.MULTILINE)
_GO_FRAME = re.compile(r"^\s+(\S+\.go):(\d+)", re.MULTILINE)
_RUST = re.compile(r"panicked at (\S+?):(\d+):\d+")
_JAVA = re.compile(r'Exception in thread "[^"]*" ([\w.$]+)[^\n]*\n((?:\s+at .*\n?)+)')
_JAVA_FRAME = re.compile(r"at ([\w.$<>]+)\(([^():]+)(?::(\d+))?\)")


class Crash(NamedTuple):
    """One crash. `key` is the same for those that count as one; `frames` are innermost first."""

    kind: Kind
    key: str
    title: str
    frames: tuple[str, ...] = ()


class Stack(NamedTuple):
    """An exception as it was printed, frames innermost first."""

    error: str
    frames: tuple[str, ...]


def crash_of(agent: AgentResult, shape: Sequence[str], *, limit_s: float) -> Crash | None:
    """The crash of a run with these calls; None for one that exits 0."""
    if agent.timed_out:
        return _made("hang", f"not over after {limit_s:g} s", (), shape)
    code = agent.exit_code
    if not code:
        return None
    stack = printed(agent.stderr) or printed(agent.answer)
    frames = stack.frames if stack is not None else ()
    if code < 0:
        return _made("signal", f"ended by {_signal(-code)}", frames, shape)
    if stack is not None:
        place = f" at {frames[0]}" if frames else ""
        return _made("exception", f"{stack.error}{place}", frames, shape)
    return _made("exit", f"exited {code}", (), shape)


def printed(text: str) -> Stack | None:
    """The last uncaught exception in an output: Python's, Node's, Go's, Rust's or Java's."""
    for pattern, frames in ((_PYTHON, _python), (_NODE, _node), (_JAVA, _java)):
        found = list(pattern.finditer(text))
        if found:
            return frames(found[-1])
    went = list(_GO.finditer(text))
    if went:
        return Stack(
            "panic", _outward(f"{_name(file)}:{line}" for file, line in _GO_FRAME.findall(went[-1][1]))
        )
    rust = list(_RUST.finditer(text))
    return Stack("panic", (f"{_name(rust[-1][1])}:{rust[-1][2]}",)) if rust else None


def _python(found: re.Match[str]) -> Stack:
    frames = [(file, f"{_name(file)}:{line} {name}") for file, line, name in _PYTHON_FRAME.findall(found[1])]
    return Stack(found[2], _outward(_own(frames[::-1])))


def _node(found: re.Match[str]) -> Stack:
    frames = [
        (file, f"{_name(file)}:{line} {name}".rstrip()) for name, file, line in _NODE_FRAME.findall(found[2])
    ]
    return Stack(found[1], _outward(_own(frames)))


def _java(found: re.Match[str]) -> Stack:
    frames = [f"{file}:{line} {name}" for name, file, line in _JAVA_FRAME.findall(found[2])]
    return Stack(found[1], _outward(frames))


def _own(frames: list[tuple[str, str]]) -> list[str]:
    """The frames in files of the program's own; all of them where there is none."""
    own = [text for file, text in frames if not any(part in file for part in FOREIGN)]
    return own or [text for _, text in frames]


def _outward(frames: Iterable[str]) -> tuple[str, ...]:
    """The innermost frames; a function that calls itself counts once."""
    kept: list[str] = []
    for one in frames:
        if not kept or kept[-1] != one:
            kept.append(one)
    return tuple(kept[:INNERMOST])


def _made(kind: Kind, title: str, frames: tuple[str, ...], shape: Sequence[str]) -> Crash:
    where = frames or tuple(shape[-LAST:])
    about = "\n".join((kind, title, *where))
    return Crash(kind, sha256_hex(about.encode("utf-8", "replace"))[:12], title, frames)


def _name(file: str) -> str:
    return file.replace("\\", "/").rpartition("/")[2]


def _signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
