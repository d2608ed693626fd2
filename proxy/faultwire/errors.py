"""The exception tree.

FaultwireError                we erred: the run is void                     exit 3
├─ UsageError                 you erred: a command or its arguments         exit 2
│  ├─ ProfileError            a profile, with file and line
│  ├─ ConfigError             a faultwire.yaml, with file and line
│  └─ ScenarioError           a script of turns or an incident session
├─ WireError                  the peer erred: bytes that break its protocol
├─ FaultError                 a fault misbehaved, so the run proves nothing
├─ CaptureError               the agent's traffic did not reach us
├─ TapeError                  a tape cannot be written or read
│  ├─ TapeNotFound
│  ├─ TapeVersion
│  ├─ TapeTampered
│  └─ TapeIncomplete
└─ AgentError                 the agent never started

Every class has a `code`; a raise site may narrow it (`profile.unknown_fault`). Messages are lower
case, have no final period, put values in backticks and say what was found and what was expected;
`hint` says how to fix it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True, slots=True)
class Location:
    """A place in a file that a user wrote; `line` and `column` count from 1."""

    file: str
    line: int | None = None
    column: int | None = None

    def __str__(self) -> str:
        parts = [self.file, *(str(n) for n in (self.line, self.column) if n is not None)]
        return ":".join(parts)


def printable(text: str) -> str:
    """`text` with every control, format and private character written as an escape."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


class FaultwireError(Exception):
    """Faultwire or its set-up failed, so nothing was learned."""

    exit_code: ClassVar[int] = 3
    default_code: ClassVar[str] = "faultwire.internal"

    def __init__(
        self,
        message: str,
        *,
        code: str | None = None,
        hint: str | None = None,
        where: Location | None = None,
        also: Iterable[FaultwireError] = (),
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code or self.default_code
        self.hint = hint
        self.where = where
        self.also = tuple(also)
        """The other errors that were found at once, for example in the same file."""

    def __str__(self) -> str:
        place = f"{self.where}: " if self.where else ""
        return f"{place}{self.code}: {self.message}"

    def render(self) -> str:
        """The text for a terminal: a line for each error, and `hint:` on the next where there is one."""
        text = printable(str(self)) + (f"\nhint: {printable(self.hint)}" if self.hint else "")
        return "\n".join((text, *(other.render() for other in self.also)))


class UsageError(FaultwireError):
    """A command was called in a way that it does not understand."""

    exit_code = 2
    default_code = "usage.invalid"


class ProfileError(UsageError):
    """A profile was not understood."""

    default_code = "profile.invalid"


class ConfigError(UsageError):
    """A configuration file was not understood."""

    default_code = "config.invalid"


class ScenarioError(UsageError):
    """A script of turns or a replay session was not understood."""

    default_code = "scenario.invalid"


class WireError(FaultwireError):
    """A peer sent bytes that break its own protocol."""

    default_code = "wire.malformed"


class FaultError(FaultwireError):
    """A fault misbehaved, so the run proves nothing."""

    default_code = "fault.failed"


class CaptureError(FaultwireError):
    """The agent's traffic did not reach the proxy."""

    default_code = "capture.no_traffic"


class TapeError(FaultwireError):
    """A tape could not be written or read."""

    default_code = "tape.failed"


class TapeNotFound(TapeError):
    """No tape was found under that name."""

    exit_code = 2
    default_code = "tape.not_found"


class TapeVersion(TapeError):
    """The tape was written by a version that this one does not read."""

    default_code = "tape.version"


class TapeTampered(TapeError):
    """The tape's contents contradict its hashes."""

    default_code = "tape.tampered"


class TapeIncomplete(TapeError):
    """The tape lacks something that was asked of it."""

    default_code = "tape.incomplete"


class AgentError(FaultwireError):
    """The agent never started."""

    exit_code = 2
    default_code = "agent.not_started"


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that a misspelled one most likely meant, if any is close."""
    from difflib import get_close_matches  # an engine that starts names nothing wrongly

    found = get_close_matches(name, list(known), n=1, cutoff=0.5)
    return found[0] if found else None


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A hint: the nearest known name, or the list of them all."""
    options = sorted(known)
    close = nearest(name, options)
    return f"did you mean `{close}`?" if close else f"known: {', '.join(options)}"


def port_taken(host: str, port: int, error: OSError) -> UsageError:
    """The error for an address that cannot be listened on."""
    return UsageError(
        f"`{host}:{port}` cannot be listened on: {error.strerror or error}",
        code="engine.port",
        hint="another program has it; choose another `--listen`, or port 0 for a free one",
    )
