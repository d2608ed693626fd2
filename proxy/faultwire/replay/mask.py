"""What may differ between a recorded request and the same one asked again.

What counts for nothing wherever a provider's API is spoken, `wire.fingerprint` knows. A tape may name
more places, and so may whoever replays it. A mask is text: a path into the JSON body (`$.metadata.run`,
`*` for every element or member), or a glob over host and path before one
(`api.example.com/v1/* $.trace`), or `?name` for a field of the query.
"""

from __future__ import annotations

import re  # noqa: TID251 - fixed patterns
from dataclasses import dataclass
from typing import TYPE_CHECKING

from faultwire import _core
from faultwire.errors import UsageError
from faultwire.tape.redact.edit import MARK

if TYPE_CHECKING:
    from collections.abc import Iterable

    from faultwire.events import Request

PLACEHOLDER = re.compile(re.escape(MARK) + r"[0-9a-f]{32}")
"""What stands for a secret on a tape; under another project's key it is another for the same secret."""

_PATH = re.compile(r"\$(?:\.[^\s.$]+)+\Z")
_FIELD = re.compile(r"\?[^\s=&?]+\Z")


@dataclass(frozen=True, slots=True)
class Masks:
    """Masks in order: (glob over `host/path`, JSON path or `?name`)."""

    rules: tuple[tuple[str, str], ...] = ()

    @classmethod
    def parse(cls, texts: Iterable[str]) -> Masks:
        """Raises UsageError for a text that is no mask."""
        return cls(tuple(map(_parsed, texts)))

    def paths(self, request: Request) -> tuple[str, ...]:
        """Places in this request's body that count for nothing."""
        return tuple(what for what in self._of(request) if what.startswith("$"))

    def path(self, request: Request) -> str:
        """This request's path, without the fields of its query that count for nothing."""
        names = {what[1:] for what in self._of(request) if what.startswith("?")}
        bare, mark, query = request.path.partition("?")
        if not (names and mark):
            return request.path
        kept = [pair for pair in query.split("&") if pair.partition("=")[0] not in names]
        return f"{bare}?{'&'.join(kept)}" if kept else bare

    def _of(self, request: Request) -> list[str]:
        if not self.rules:
            return []
        place = request.host.lower() + request.path.partition("?")[0]
        return [what for glob, what in self.rules if glob == "*" or _core.glob_match(glob, place)]


def _parsed(text: str) -> tuple[str, str]:
    glob, _, what = text.strip().rpartition(" ")
    if not (_PATH.match(what) or _FIELD.match(what)) or " " in glob.strip():
        raise UsageError(
            f"found the mask `{text}`, expected a path such as `$.metadata.run`, or `HOST/PATH $.…`",
            code="replay.mask",
            hint="`faultwire tape learn A B` proposes masks",
        )
    return glob.strip() or "*", what


def blind(text: str) -> tuple[str, tuple[str, ...]]:
    """A text with every placeholder made the same, and the placeholders in order."""
    if MARK not in text:
        return text, ()
    return PLACEHOLDER.sub(MARK + "*", text), tuple(PLACEHOLDER.findall(text))
