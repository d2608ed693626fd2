"""Do runs of the same trial come out the same, byte for byte? Then each trial has to be run only once.

A run's *digest* covers what the agent asked, what it got and how it exited. Runs of one trial that share it
and the verdict say that nothing but the trial decides them, and further runs of it say nothing new. One run
that differs from an earlier one of its trial ends that for good, and everything is repeated as usual.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from faultwire._core import sha256_hex

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable

    from faultwire.events import Recorded

Came = tuple[bool | None, str]


@dataclass
class Repeats:
    """The runs so far. `needed` equal ones are believed: an agent that makes another run in one of three runs
    shows that in 6 repeats with 91 %."""

    needed: int
    equal: int = 0
    """Runs that came out as an earlier one of the same trial."""
    other: bool = False
    """Did one come out otherwise, or is it not known how?"""
    _first: dict[Hashable, Came] = field(default_factory=dict)

    def add(self, trial: Hashable, failed: bool | None, digest: str) -> None:
        """Take a run; an empty digest is that of a run of which nothing is known."""
        came = failed, digest
        known = trial in self._first
        if not digest or self._first.setdefault(trial, came) != came:
            self.other = True
        elif known:
            self.equal += 1

    @property
    def words(self) -> str:
        """Why runs were made once, where they were; else empty."""
        return once(self.equal) if self.exact else ""

    @property
    def exact(self) -> bool:
        """Is one run of a trial as good as many?"""
        return not self.other and self.equal >= self.needed


def once(equal: int) -> str:
    """Why runs were made once, in words."""
    same = "1 run that was made again was" if equal == 1 else f"{equal} runs that were made again were"
    return f"{same} the same, byte for byte: others were made once"


def digest_of(exchanges: Iterable[Recorded], code: int | None) -> str:
    """What came of a run, as a hash: the calls and the answers, in whatever order they were made at once, and
    the exit code. Header fields are left out; they hold dates."""
    made = sorted(
        sha256_hex(
            b"\0".join(
                (
                    f"{one.request.method} {one.request.host} {one.request.path}".encode(),
                    one.request.body or b"",
                    b"" if one.delivered is None else f"{one.delivered.status}".encode(),
                    b"" if one.delivered is None else one.delivered.body,
                    *(message.data for message in one.messages),
                    one.ending.encode(),
                )
            )
        )
        for one in exchanges
    )
    return sha256_hex(" ".join([*made, str(code)]).encode())
