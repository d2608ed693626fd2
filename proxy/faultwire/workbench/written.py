"""Files that commands wrote, read again for the page: bounded, of a shape, and with inert texts."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from faultwire.errors import UsageError
from faultwire.report.text import clip, line, redacted, shown, whole
from faultwire.tape.redact.redactor import Redactor, fresh_key

if TYPE_CHECKING:
    from pathlib import Path

LARGEST = 64 * 1024 * 1024
"""Bytes of a file that are read."""
LINE, TEXT = 500, 4_000
"""Characters that are shown of what stands in one line, and of a text."""
Read = TypeVar("Read", bound="Shape")


class Shape(BaseModel):
    """What a file has to hold. Members that a later release adds are passed over."""

    model_config = ConfigDict(extra="ignore", frozen=True)


def read(path: Path, shape: type[Read], command: str) -> Read:
    """The file as its command wrote it. Raises UsageError where it is none of it."""
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST + 1)
        if len(data) > LARGEST:
            raise ValueError
        return shape.model_validate(redacted(json.loads(data), whole))
    except (OSError, ValueError, RecursionError, ValidationError):
        raise UsageError(
            f"found no readable `{path}`, expected what `faultwire {command}` writes there",
            code="ui.analysis",
            hint=f"run `faultwire {command}` again: it writes the file anew",
        ) from None


class Words:
    """Texts for a page. Commands have redacted what they wrote where they knew it to be traffic; every text
    is looked at once more here, since some of them are the user's own."""

    def __init__(self) -> None:
        self._redactor = Redactor(fresh_key())

    def line(self, text: str, most: int = LINE) -> str:
        """One harmless line."""
        return line(self._clean(text), most)

    def text(self, text: str, most: int = TEXT) -> str:
        """A harmless text, which may have several lines."""
        return shown(clip(self._clean(text), most))

    def _clean(self, text: str) -> str:
        return self._redactor.text(text, {})
