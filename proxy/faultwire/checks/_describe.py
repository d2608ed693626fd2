"""What a check says about itself: the sections of its docstring, and its settings with their bounds."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import TYPE_CHECKING

from faultwire.checks._api import SECTIONS
from faultwire.faults._describe import sections, settings

if TYPE_CHECKING:
    from collections.abc import Mapping

    from faultwire.checks._api import Check
    from faultwire.faults._describe import Setting


@dataclass(frozen=True, slots=True)
class Description:
    """A check in words; `judges` is `answer` or `history`, `sections` has a text for each of `SECTIONS`."""

    name: str
    judges: str
    summary: str
    sections: Mapping[str, str]
    settings: tuple[Setting, ...]
    module: str


def describe(check: type[Check]) -> Description:
    """Everything that there is to say about a check; settings of its own come first."""
    own = [s for s in settings(check) if s.name not in _COMMON]
    common = [s for s in settings(check) if s.name in _COMMON]
    return Description(
        name=check.name,
        judges="answer" if check.reads_answer else "history",
        summary=(inspect.getdoc(check) or "").partition("\n")[0],
        sections=sections(check, SECTIONS),
        settings=(*own, *common),
        module=check.__module__,
    )


_COMMON = frozenset(("id", "severity", "when", "scenarios", "negate", "description", "probes"))
