"""One line of `faultwire doctor` and `faultwire verify`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check: `ok`, `note` (harmless) or `fail`."""

    state: Literal["ok", "note", "fail"]
    subject: str
    text: str
    hint: str | None = None
