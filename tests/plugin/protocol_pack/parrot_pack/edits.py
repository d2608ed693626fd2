"""What can be changed in Parrot's requests and answers, and its errors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from faultwire import Response
from faultwire.wire import json_bytes
from faultwire.wire.editing import answers
from faultwire.wire.editing.json_stream import LINES, JsonEditor
from faultwire.wire.editing.requests import RequestEditor, Texts
from faultwire.wire.editing.token_budget import Budget

if TYPE_CHECKING:
    from faultwire.wire.editing.api import Failure
    from faultwire.wire.editing.requests import Broken
    from faultwire.wire.json_bytes import Object

_ROLES = {"keeper": "system", "parrot": "assistant", "tool": "tool"}
_FAILURES: dict[Failure, tuple[int, str]] = {
    "overloaded": (529, "all parrots are busy"),
    "context_length": (400, "that is too long for a parrot"),
}


def error(status: int, message: str | None, retry_after_s: float | None) -> Response:
    """`{"trouble": {"status", "words"}}`, and when to come back in seconds."""
    trouble = {"status": status, "words": message or answers.reason(status).lower()}
    body = json_bytes.dump({"trouble": trouble})
    later = () if retry_after_s is None else (("retry-after", answers.whole_seconds(retry_after_s)),)
    named = ("x-parrot-id", answers.made_id("squawk_", status, message))
    return answers.answer(status, body, "application/json", named, *later)


class ParrotEditor(RequestEditor):
    """Texts of requests, and failures."""

    def gathered(self, document: Object) -> Texts:
        """The words of every message."""
        talk = json_bytes.objects(document.get("talk"))
        texts = Texts(max((at for at, said in talk if said.get("who") == "parrot"), default=-1))
        for at, said in talk:
            texts.add(_ROLES.get(str(said.get("who")), "user"), said.get("words"), ("talk", at, "words"), at)
        return texts

    def failure(self, what: Failure, *, message: str | None = None) -> Response | None:
        """Parrot has a word for two of them."""
        known = _FAILURES.get(what)
        return error(known[0], message or known[1], None) if known else None

    def error_event(self, what: Broken, message: str | None) -> bytes:
        """A line that is an error."""
        return json_bytes.dump({"trouble": {"status": 500, "words": message or what}}) + b"\n"


class Truncator(JsonEditor):
    """Cuts words behind a budget; the last line stays, and says `length`."""

    framed = LINES

    def __init__(self, max_tokens: int) -> None:
        self._budget = Budget(max_tokens)

    def edit(self, name: str, data: bytes, document: Object) -> bytes:
        """One line, or a whole answer."""
        words = json_bytes.string(document.get("words"))
        kept = self._budget.take(words) if self._budget.enter("words") else ""
        if kept != words:
            data = json_bytes.put(data, ("words",), json_bytes.dump(kept))
        if document.get("over") is True:
            return json_bytes.put(data, ("why",), b'"length"') if self._budget.spent else data
        return data if kept or not words else b""
