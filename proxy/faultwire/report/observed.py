"""The report of a run without a contract: the traffic of one program under `exec`.

It is a report like every other, with an invocation and without a prompt, an invariant or a cell. In
place of verdicts it has what stands out on the wire (`noticed`).
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from faultwire.contract.cells import Invocation, Prompt, Scenario
from faultwire.contract.matrix import Matrix
from faultwire.report.document import document
from faultwire.report.noticed import noticed
from faultwire.report.text import clip

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from faultwire.events import History, Request
    from faultwire.profile.model import Profile
    from faultwire.report.document import Subject

UNNAMED = "traffic"
"""What the scenario is called where nothing was to be broken."""
_NOTHING: Mapping[tuple[str, int], Request] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class _Watched(Invocation):
    """The one start of the program, by the name of its session."""

    session: str = ""

    @property
    def id(self) -> str:
        """The session on the tape."""
        return self.session


def observed(
    subject: Subject,
    profile: Profile,
    history: History,
    exit_code: int,
    *,
    interrupted: bool = False,
    redact: Callable[[str], str],
    forwarded: Mapping[tuple[str, int], Request] = _NOTHING,
) -> dict[str, Any]:
    """The document of a program that ended with `exit_code` (negative for a signal), by itself or
    `interrupted` by the user. What it printed is not in it: that went to the terminal. Nothing is noticed of
    a run that is void: what would contradict it may not be on the tape."""
    scenario = Scenario(profile.name if profile.entries else UNNAMED, profile)
    one = _Watched(scenario, Prompt(history.session, ""), session=history.session)
    made = document(
        subject, [scenario], [], [], Matrix(()), [(one, history)], redact=redact, forwarded=forwarded
    )
    made["invocations"][0] |= {"exit_code": exit_code, "timed_out": False, "duration_s": subject.duration_s}
    made["suggestions"] = [
        {
            "id": rule.id,
            "action": rule.action,
            "invocations": 1,
            "evidence": [
                {
                    "invocation": one.id,
                    "exchanges": list(found.exchanges[:20]),
                    "words": clip(redact(found.words), 500),
                }
            ],
        }
        for rule, found in ([] if history.voids else noticed(history, exit_code, interrupted=interrupted))
    ]
    return made
