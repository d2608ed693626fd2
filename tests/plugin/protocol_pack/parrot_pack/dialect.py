"""How the mock speaks Parrot's protocol."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from faultwire import Conversation, Dialect, Refused, Tool, WireError, header, wire
from faultwire.wire import json_bytes
from faultwire.wire.editing import answers, token_budget

if TYPE_CHECKING:
    from faultwire import Headers, Reply, Request


class ParrotDialect(Dialect):
    """`POST …/v1/talk`."""

    protocol = "parrot"
    path = "/v1/talk"
    base = ""
    provider = "Parrot"
    stream_type = "application/x-ndjson"

    def check_key(self, request: Request) -> None:
        """`x-parrot-key`."""
        if not header(request.headers, "x-parrot-key"):
            raise Refused(wire.protocol("parrot").error(401, message="who are you?"))

    def read(self, body: bytes) -> Conversation:
        """The conversation, checked as the API would check it."""
        try:
            document, view = json_bytes.load_object(body), wire.protocol("parrot").request_view(body)
        except WireError as error:
            raise Refused(wire.protocol("parrot").error(400, message=error.message)) from None
        tools = (tool for _, tool in json_bytes.objects(document.get("tools")))
        return Conversation(
            digest=answers.made_id("", body),
            view=view,
            tools=tuple(Tool(str(t.get("name")), "", t.get("schema") or {}) for t in tools),
        )

    def headers(self, conversation: Conversation) -> Headers:
        """The request's id."""
        return (("x-parrot-id", f"squawk_{conversation.digest}"),)

    def whole(self, conversation: Conversation, reply: Reply) -> bytes:
        """One object."""
        said = {"model": conversation.view.model, "words": reply.text}
        for number, call in enumerate(reply.calls):
            said["call"] = _call(number, call.name, call.arguments)
        return json_bytes.dump({**said, **_over(conversation, reply)})

    def events(self, conversation: Conversation, reply: Reply) -> tuple[bytes, ...]:
        """A line a word, and a last one."""
        model = {"model": conversation.view.model}
        said: list[dict[str, Any]] = [{**model, "words": f"{word} "} for word in reply.text.split()]
        said += [{"call": _call(n, call.name, call.arguments)} for n, call in enumerate(reply.calls)]
        return tuple(json_bytes.dump(line) + b"\n" for line in (*said, _over(conversation, reply)))


def _call(number: int, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    return {"id": f"call_{number}", "tool": name, "arguments": arguments}


def _over(conversation: Conversation, reply: Reply) -> dict[str, Any]:
    heard = sum(token_budget.count(turn.text) for turn in conversation.view.turns)
    counted = {"heard": heard, "said": token_budget.count(reply.text)}
    return {"over": True, "why": "called" if reply.calls else "said_all", "counted": counted}
