"""`conversation_expired`: what the provider kept of a conversation is gone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, ClassVar, NamedTuple

from pydantic import Field

from faultwire.events import Kind
from faultwire.faults._api import Fault, Mutator, Need, Site
from faultwire.faults._settings import Seconds
from faultwire.faults._wire import error_answer, kept_by_provider
from faultwire.wire import json_bytes
from faultwire.wire.editing.answers import with_body
from faultwire.wire.recognition import recognise as recognition

if TYPE_CHECKING:
    from faultwire.dice import FaultDice
    from faultwire.events import Exchange, Response

KEPT = 1024
"""Names of a session that have expired and are remembered."""
_LAST = ""
"""Under this name: when the last request came."""


class ConversationExpired(Fault):
    """Let the provider forget the conversation that a request goes on with.

    What it does:
        Answers a request that names a conversation, or an earlier answer, with the provider's own error for
        one that is not there: OpenAI's 400 `previous_response_not_found` and its 404 for a `conversation`,
        Gemini's 403 for `cachedContent` and 404 for an interaction. Upstream is not called, and every later
        request with the same name gets the same. With `idle_s` only where the session's last call that the
        entry matches came so long ago, as after a pause between two turns.

    Why agents break:
        The agent holds a name and not the words: it cannot send the history again, and every later turn fails
        alike. An agent that silently begins anew has forgotten everything.

    Real-world source:
        Answers that are stored for 30 days or not at all (`store: false`), caches with a lifetime of an hour,
        keys and regions that were changed, gateways that move a user to another account.

    Example:
        faults:
          - conversation_expired: {idle_s: 5}
            on: {kind: llm}
    """

    name: ClassVar[str] = "conversation_expired"
    site: ClassVar[Site] = "response"
    needs: ClassVar[Need] = Need.REQUEST
    kinds: ClassVar[tuple[Kind, ...]] = ("llm",)
    protocols: ClassVar[tuple[str, ...]] = ("openai_responses", "gemini", "interactions")
    answers: ClassVar[bool] = True

    idle_s: Annotated[Seconds | None, Field(description="after so long without a call; `null`: at once")] = (
        None
    )

    def inapplicable(self, exchange: Exchange) -> str | None:
        """Only a request that names something can hear that it is gone. Where the pause counts, any request
        ends one."""
        why = super().inapplicable(exchange)
        if why is not None or (self.idle_s is not None and exchange.request.body is not None):
            return why
        return None if named(exchange) else "the request names nothing that the provider keeps"

    def start(self, exchange: Exchange, dice: FaultDice) -> Mutator:
        """Let it expire, if the pause was long enough."""
        return _Expired(exchange, named(exchange), self.idle_s)

    def watch(self, exchange: Exchange) -> Mutator:
        """What has expired stays so, and every request ends a pause."""
        return _Expired(exchange, named(exchange), None, now=False)


class _Named(NamedTuple):
    """A member of a request and the name in it of something that the provider keeps."""

    member: str
    name: str


def named(exchange: Exchange) -> _Named | None:
    """What the request goes on with, None where it names nothing."""
    kept = kept_by_provider(exchange)
    if kept is not None:
        return _Named(*kept)
    document = recognition.document(exchange.request.body) if exchange.protocol == "gemini" else None
    for member in ("cachedContent", "cached_content"):
        name = json_bytes.string((document or {}).get(member))
        if name:
            return _Named(member, name)
    return None


class _Expired(Mutator):
    def __init__(
        self, exchange: Exchange, kept: _Named | None, idle_s: float | None, *, now: bool = True
    ) -> None:
        self._exchange, self._kept, self._idle_s, self._now = exchange, kept, idle_s, now
        self._pause_s = 0.0

    def arrived(self, memory: dict[str, Any], at_s: float) -> None:
        super().arrived(memory, at_s)
        self._pause_s = at_s - memory.get(_LAST, at_s)
        memory[_LAST] = at_s

    def answer(self) -> Response | None:
        kept = self._kept
        if kept is None:
            return None
        key = f"{kept.member} {kept.name}"
        if key in self.memory:
            self.effect = f"`{kept.member}` had expired before"
        elif self._now and (self._idle_s is None or self._pause_s >= self._idle_s):
            pause = "" if self._idle_s is None else f" {self._pause_s:.1f} s after the last call"
            self.effect = f"`{kept.member}` expired{pause}"
            self.memory[key] = True
            self._bound()
        else:
            return None
        return gone(self._exchange, kept)

    def _bound(self) -> None:
        while len(self.memory) > KEPT:
            del self.memory[next(key for key in self.memory if key != _LAST)]


def gone(exchange: Exchange, kept: _Named) -> Response:
    """The error that the provider has for it."""
    status, message, more = _ERRORS.get(kept.member, _UNKNOWN)
    answer = error_answer(exchange, status, message=message.format(name=kept.name))
    document = json_bytes.load_object(answer.body or b"{}")
    error = document.get("error")
    if not isinstance(error, dict) or not more:
        return answer
    return with_body(answer, json_bytes.dump({**document, "error": {**error, **more}}), {})


_UNKNOWN: tuple[int, str, dict[str, Any]] = (404, "{name} was not found.", {})
_CACHE: tuple[int, str, dict[str, Any]] = (403, "CachedContent not found (or permission denied)", {})
_ERRORS: dict[str, tuple[int, str, dict[str, Any]]] = {
    "previous_response_id": (
        400,
        "Previous response with id '{name}' not found.",
        {"param": "previous_response_id", "code": "previous_response_not_found"},
    ),
    "conversation": (
        404, "Conversation with id '{name}' not found.", {"param": None, "code": None},
    ),
    "cachedContent": _CACHE,
    "cached_content": _CACHE,
}  # fmt: skip
"""By member: status, text, and what else the error says, as the live APIs were seen to answer."""
