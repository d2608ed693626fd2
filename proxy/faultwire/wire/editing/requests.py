"""What the editors of several protocols share to find and change the texts of a request."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Literal

from faultwire.wire import json_bytes
from faultwire.wire.editing import shared as shared_edits
from faultwire.wire.editing.api import Editor, TextPlace

if TYPE_CHECKING:
    from faultwire.events import Path
    from faultwire.wire.editing.api import Ability

Role = Literal["system", "user", "assistant", "tool"]
Broken = Literal["overloaded", "server_error"]
_ROLES: dict[str, Role] = {
    "system": "system",
    "developer": "system",
    "assistant": "assistant",
    "model": "assistant",
    "tool": "tool",
    "function": "tool",
}


def role_of(name: object) -> Role:
    """The word for a role, whatever the provider calls it."""
    return _ROLES.get(json_bytes.string(name), "user")


class Texts:
    """Gathers the texts of a request."""

    def __init__(self, last: int) -> None:
        self.found: list[TextPlace] = []
        self._last = last

    def add(self, role: Role, text: object, path: Path, turn: int) -> None:
        """One text, where it is one."""
        if isinstance(text, str):
            self.found.append(TextPlace(role, text, path, turn, turn > self._last))

    def blocks(self, role: Role, content: object, path: Path, turn: int, key: str = "text") -> None:
        """A content: a string, or the blocks of it that hold text."""
        self.add(role, content, path, turn)
        for at, block in json_bytes.objects(content):
            self.add(role, block.get(key), (*path, at, key), turn)


ALL: frozenset[Ability] = frozenset(("answer", "texts", "failure", "error_event"))


class RequestEditor(Editor):
    """Texts can be changed, and failures named; to build on."""

    abilities: frozenset[Ability] = frozenset(("texts", "failure", "error_event"))

    def texts(self, body: bytes) -> tuple[TextPlace, ...]:
        """Every text of the conversation."""
        return tuple(self.gathered(json_bytes.load_object(body)).found)

    def rewrite_texts(self, body: bytes, changed: dict[Path, str]) -> bytes:
        """The strings at these paths replaced."""
        return shared_edits.rewrite_texts(body, changed)

    @abstractmethod
    def gathered(self, document: json_bytes.Object) -> Texts:
        """The texts of a request."""


def last_answer(items: list[tuple[int, json_bytes.Object]]) -> int:
    """The index of the model's last message, -1 where there is none."""
    return max((at for at, item in items if role_of(item.get("role")) == "assistant"), default=-1)
