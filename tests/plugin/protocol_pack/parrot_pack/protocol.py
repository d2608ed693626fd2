"""`parrot`: `POST /v1/talk`, answered as one JSON object or as lines of JSON.

A request holds `model`, `stream`, `tools` and `talk`, whose messages have `who` (keeper, user, parrot, tool)
and `words`; one of the parrot may have a `call`. An answer has `words` or a `call`; the last line of a stream
has `over`, with `why` it ended and what was `counted`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from faultwire import (
    BaseUrl,
    Page,
    Protocol,
    RequestView,
    ResponseView,
    Signs,
    ToolCall,
    ToolResult,
    Turn,
    Usage,
    WireError,
)
from faultwire.wire import json_bytes
from faultwire.wire.editing.json_stream import LINES, Gatherer
from faultwire.wire.recognition import recognise
from parrot_pack.edits import ParrotEditor, Truncator, error

if TYPE_CHECKING:
    from faultwire import Request, Rewrite, StreamEditor, StreamReader
    from faultwire.wire.json_bytes import Object

_ROLES = {"keeper": "system", "parrot": "assistant", "tool": "tool"}


class Parrot(Protocol):
    """All that there is to the protocol: no other file names it but the package's entry point."""

    name = "parrot"
    hosts = (("parrot.example", "parrot"),)
    settled = ("/v1/talk",)
    signs = Signs(frozenset(("words", "call", "over")))
    text_members = frozenset(("words",))
    request_ids = ("x-parrot-id",)
    edits = ParrotEditor()
    errors = staticmethod(error)
    dialect = "parrot_pack.dialect:ParrotDialect"
    mocked = ("api.parrot.example", "*.parrot.example")
    base_urls = (BaseUrl("parrot", "https://api.parrot.example", ("PARROT_BASE_URL",)),)
    keys = (("PARROT_KEY",),)
    page = Page(
        recognised="`POST …/v1/talk`",
        provider="`parrot`",
        read="conversation, calls, results, answer, usage; lines of JSON",
        changed="texts, results, length",
        made_up="errors, an error line",
    )

    def recognise(self, request: Request) -> bool:
        """By path."""
        return recognise.bare_path(request).endswith("/v1/talk")

    def provider(self, request: Request) -> str:
        """By host."""
        return recognise.provider_of(request.host) or "parrot"

    def request_view(self, body: bytes) -> RequestView:
        """The conversation. Raises WireError without any `talk`."""
        document = json_bytes.load_object(body)
        talk = json_bytes.objects(document.get("talk"))
        if not talk:
            raise WireError("found no `talk`, expected messages")
        last = max((at for at, said in talk if said.get("who") == "parrot"), default=-1)
        turns = [_turn(at, said, new=at > last) for at, said in talk]
        return RequestView(
            model=json_bytes.string(document.get("model")),
            stream=document.get("stream") is True,
            system="\n".join(turn.text for turn in turns if turn.role == "system"),
            turns=tuple(turn for turn in turns if turn.role != "system"),
            tools=tuple(str(tool.get("name")) for _, tool in json_bytes.objects(document.get("tools"))),
        )

    def response_view(self, status: int, body: bytes) -> ResponseView:
        """One object that says all."""
        reader = Reader()
        reader.take("", json_bytes.load_object(body))
        return reader.view()

    def reader(self) -> StreamReader:
        """Complete with `over`."""
        return Reader()

    def is_terminal(self, event: bytes) -> bool:
        """`"over": true`."""
        return (recognise.document(event) or {}).get("over") is True

    def replace_result(self, body: bytes, result: ToolResult, rewrite: Rewrite) -> bytes:
        """The `words` of a message of a tool."""
        return json_bytes.put(body, result.path, json_bytes.dump(rewrite.text))

    def truncate(self, body: bytes, max_tokens: int) -> bytes:
        """A whole answer, cut; it ends because of its `length`."""
        return Truncator(max_tokens).edit("", body, json_bytes.load_object(body))

    def truncator(self, max_tokens: int) -> StreamEditor:
        """The same, line by line."""
        return Truncator(max_tokens)


class Reader(Gatherer):
    """Reads one line after the other."""

    framed = LINES

    def take(self, name: str, document: Object) -> None:
        """Take one line, or a whole answer."""
        self.model = json_bytes.string(document.get("model")) or self.model
        self.text.append(json_bytes.string(document.get("words")))
        call = document.get("call")
        if isinstance(call, dict):
            made = _call(call)
            self.calls[made.id] = (made.id, made.name, [made.arguments])
        if isinstance(document.get("trouble"), dict):
            self.error = json_bytes.string(document["trouble"].get("words")) or "trouble"
        counted = document.get("counted")
        if isinstance(counted, dict):
            self.usage = Usage(*(json_bytes.count(counted.get(key)) for key in ("heard", "said")))
        if document.get("over") is True:
            self.finish, self.complete = json_bytes.string(document.get("why")) or None, True


def _turn(at: int, said: Object, *, new: bool) -> Turn:
    role, words = _ROLES.get(str(said.get("who")), "user"), json_bytes.string(said.get("words"))
    call = said.get("call")
    calls = (_call(call),) if isinstance(call, dict) else ()
    if role != "tool":
        return Turn(role, words, calls)
    place = ("talk", at, "words")
    named = json_bytes.string(said.get("id")), json_bytes.string(said.get("tool"))
    return Turn(role, words, (), (ToolResult(*named, "", words, False, place, new),))


def _call(call: Object) -> ToolCall:
    arguments = json_bytes.dump(call.get("arguments") or {}).decode()
    return ToolCall(json_bytes.string(call.get("id")), json_bytes.string(call.get("tool")), arguments)
