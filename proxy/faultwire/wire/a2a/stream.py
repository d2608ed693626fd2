"""A2A's streams, and changes of what an agent says, whole or streamed.

`root` is where an answer stands in its document: `result` in JSON-RPC, the document itself else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from faultwire.errors import WireError
from faultwire.events import ResponseView
from faultwire.wire import json_bytes
from faultwire.wire.a2a import errors as a2a_errors, view as a2a_view, vocabulary as a2a_vocabulary
from faultwire.wire.editing import shared as shared_edits
from faultwire.wire.editing.api import Editor, TextPlace
from faultwire.wire.framing import sse
from faultwire.wire.types import StreamEditor, StreamReader

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from faultwire.events import Path
    from faultwire.wire.editing.api import Ability, Change


class Reader(StreamReader):
    """Gathers what an agent says; complete once its task rests or a message came."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._gathered = a2a_view.Gathered()
        self._broken: str | None = None

    def feed(self, event: bytes) -> None:
        """Take one event; what is not JSON is reported as the error."""
        fields = sse.fields(event)
        if fields is None or not fields.data:
            return
        try:
            document = json_bytes.load_object(fields.data)
        except WireError as error:
            self._broken = self._broken or error.message
            return
        self._gathered.name(document)
        if isinstance(document.get("error"), dict):
            self._gathered.fail(document["error"])
        else:
            self._gathered.take(json_bytes.member(document, *map(str, self._root)))

    def answered(self) -> a2a_view.A2AResponse:
        """The text so far, in A2A's own types."""
        return self._gathered.answered()

    def view(self) -> ResponseView:
        """The answer so far."""
        view = self.answered().view()
        if view.error is None and self._broken is not None:
            return ResponseView(
                text=view.text,
                finish_reason=view.finish_reason,
                error=self._broken,
                complete=view.complete,
                request_id=view.request_id,
            )
        return view


def is_terminal(event: bytes, root: Path) -> bool:
    """Is this the last event of a stream: an error, a message, or a task at rest?"""
    fields = sse.fields(event)
    if fields is None or not fields.data:
        return False
    try:
        document = json_bytes.load_object(fields.data)
    except WireError:
        return False
    if isinstance(document.get("error"), dict):
        return True
    found = a2a_vocabulary.utterance(json_bytes.member(document, *map(str, root)))
    return found is not None and a2a_vocabulary.ends(found)


class _Held(NamedTuple):
    event: bytes
    data: bytes
    places: list[tuple[Path, str]]


class A2AStreamEditor(StreamEditor):
    """Changes all that an agent says in a stream: from its first word on events are held until the last
    one, because what to say instead depends on the whole."""

    def __init__(self, text: Callable[[str], str], root: Path) -> None:
        self._text = text
        self._root = root
        self._held: list[_Held] = []

    def feed(self, event: bytes) -> Iterable[bytes]:
        """Nothing from the first word to the last."""
        fields = sse.fields(event)
        data = fields.data if fields is not None else b""
        places: list[tuple[Path, str]] = []
        try:
            document = json_bytes.load_object(data) if data else {}
            places = a2a_view.places(json_bytes.member(document, *map(str, self._root)), self._root)
        except WireError:
            places = []
        if not places and not self._held:
            return (event,)
        self._held.append(_Held(event, data, places))
        return self.finish() if is_terminal(event, self._root) else ()

    def finish(self) -> Iterable[bytes]:
        """What was held, with the new words in as many places as carried the old ones."""
        held, self._held = self._held, []
        data = _respoken([(one.data, one.places) for one in held], self._text)
        out = []
        for one, new in zip(held, data, strict=True):
            self.changed = self.changed or new != one.data
            out.append(one.event if new == one.data else sse.with_data(one.event, new))
        return out


def _respoken(
    documents: list[tuple[bytes, list[tuple[Path, str]]]], text: Callable[[str], str]
) -> list[bytes]:
    """The documents with the new text in their places; those that have none stay as they are."""
    old = "".join(words for _, places in documents for _, words in places)
    new = text(old)
    if new == old:
        return [data for data, _ in documents]
    count = sum(len(places) for _, places in documents)
    pieces = shared_edits.pieces(new, count)
    pieces += [""] * (count - len(pieces))
    left = iter(pieces)
    out = []
    for data, places in documents:
        for path, _ in places:
            data = json_bytes.put(data, path, json_bytes.dump(next(left)))
        out.append(data)
    return out


class A2AEditor(Editor):
    """The messages of both sides; an error inside a stream."""

    abilities: frozenset[Ability] = frozenset(("answer", "texts", "error_event"))

    def __init__(self, root: Path, sent: Path) -> None:
        self._root = root
        self._sent = sent

    def change(self, body: bytes, change: Change) -> bytes:
        """The texts of a whole answer; states, ids and files stay. Other changes have no place here."""
        document = json_bytes.load_object(body)
        if change.text is None:
            return body
        places = a2a_view.places(json_bytes.member(document, *map(str, self._root)), self._root)
        return _respoken([(body, places)], change.text)[0]

    def stream_editor(self, change: Change) -> StreamEditor | None:
        """The same for a stream."""
        return A2AStreamEditor(change.text or (lambda text: text), self._root)

    def texts(self, body: bytes) -> tuple[TextPlace, ...]:
        """The texts of the message that is sent."""
        sent = json_bytes.member(json_bytes.load_object(body), *map(str, self._sent))
        role = a2a_vocabulary.role(sent)
        return tuple(
            TextPlace(role, text, path, 0, True) for path, text in a2a_vocabulary.parts(sent, self._sent)
        )

    def rewrite_texts(self, body: bytes, changed: dict[Path, str]) -> bytes:
        """The strings at these paths replaced."""
        return shared_edits.rewrite_texts(body, changed)

    def error_event(self, what: Literal["overloaded", "server_error"], message: str | None) -> bytes:
        """As servers send it: JSON-RPC's error as an event like any other, HTTP+JSON's by its name."""
        usual = "Service unavailable" if what == "overloaded" else None
        error = a2a_errors.object_of("internal_error", message or usual)
        if self._root:
            return sse.write(json_bytes.dump({"jsonrpc": "2.0", "id": None, "error": error}))
        body = a2a_errors.rest("internal_error", message or usual).body or b""
        return sse.write(body, "error")
