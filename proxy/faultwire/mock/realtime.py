"""OpenAI Realtime, answered: one session, GA or beta, that keeps its conversation."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

import orjson

from faultwire import _core, wire
from faultwire.errors import WireError
from faultwire.events import header
from faultwire.mock import _shared, realtime_reply
from faultwire.mock._api import OutgoingMessage, Session
from faultwire.wire import json_bytes
from faultwire.wire.openai.realtime_edits import error_message
from faultwire.wire.openai.realtime_events import event_id, item_events

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from faultwire.events import Request
    from faultwire.mock._api import Conversation, Reply
    from faultwire.mock.openai_responses import Items

    Replying = Callable[[Conversation], Reply]
    """Says what the model replies, its delays settled."""

BYTES_PER_MS = 48
"""PCM with 16 bits, 24 kHz, one channel."""
_SILENCE = base64.b64encode(bytes(40 * BYTES_PER_MS)).decode()
"""What is sent as speech."""
_MODEL = "gpt-realtime"


class RealtimeSession(Session):
    """One client's session."""

    def __init__(self, request: Request, replying: Replying) -> None:
        view = wire.protocol("realtime").view(request)
        self._model = view.model or _MODEL
        self._beta = header(request.headers, "openai-beta") == "realtime=v1"
        self._replying = replying
        self._settings: dict[str, Any] = {}
        self._items: Items = []
        self._received = 0
        self._audio = 0
        self._active = False
        self._cancelled = False
        self._handlers: dict[str, Callable[[dict[str, Any]], Iterable[OutgoingMessage]]] = {
            "session.update": self._update,
            "conversation.item.create": self._create_item,
            "conversation.item.delete": self._delete_item,
            "conversation.item.retrieve": self._retrieve_item,
            "input_audio_buffer.append": self._append_audio,
            "input_audio_buffer.clear": self._clear_audio,
            "input_audio_buffer.commit": self._commit_audio,
            "response.create": self._create_response,
            "response.cancel": self._cancel,
        }

    def opening(self) -> Iterable[OutgoingMessage]:
        """`session.created`."""
        return [self._event("session.created", session=self._session())]

    def receive(self, message: str) -> Iterable[OutgoingMessage]:
        """The events that follow from one of the client's; `error` for one that is not understood."""
        self._received += 1
        try:
            document = json_bytes.load_object(message.encode("utf-8", "replace"))
        except WireError:
            return [self._error("We could not parse the JSON body of your event.", "invalid_json", {})]
        handler = self._handlers.get(json_bytes.string(document.get("type")))
        if handler is None:
            text = f"Invalid value: '{document.get('type')}'."
            return [self._error(text, "invalid_value", document)]
        return handler(document)

    # ------------------------------------------------------------ settings and items

    def _session(self) -> dict[str, Any]:
        made = _core.sha256_hex(self._model.encode())[:21]
        modalities = "modalities" if self._beta else "output_modalities"
        known: dict[str, Any] = {"id": f"sess_{made}", "object": "realtime.session", "model": self._model}
        if not self._beta:
            known["type"] = "realtime"
        usual = {modalities: self._modalities(), "instructions": "", "tools": [], "tool_choice": "auto"}
        return {**known, **usual, **self._settings}

    def _modalities(self) -> list[str]:
        modalities = self._settings.get("modalities" if self._beta else "output_modalities")
        return modalities if isinstance(modalities, list) else ["audio"]

    def _update(self, document: dict[str, Any]) -> Iterable[OutgoingMessage]:
        changes = document.get("session")
        if not isinstance(changes, dict):
            return [
                self._error("Missing required parameter: 'session'.", "missing_required_parameter", document)
            ]
        self._settings |= {key: value for key, value in changes.items() if key != "model"}
        return [self._event("session.updated", session=self._session())]

    def _create_item(self, document: dict[str, Any]) -> Iterable[OutgoingMessage]:
        item = document.get("item")
        if not isinstance(item, dict):
            return [
                self._error("Missing required parameter: 'item'.", "missing_required_parameter", document)
            ]
        called = {known.get("call_id") for known in self._items if known.get("type") == "function_call"}
        if item.get("type") == "function_call_output" and item.get("call_id") not in called:
            text = f"Tool call ID '{item.get('call_id')}' not found in conversation."
            return [self._error(text, "invalid_tool_call_id", document)]
        return self._added(item)

    def _added(self, item: dict[str, Any]) -> list[OutgoingMessage]:
        made = event_id(self._model, "item", self._received).replace("event_", "item_", 1)
        whole = {"id": made, "object": "realtime.item", "status": "completed", **item}
        previous = self._items[-1]["id"] if self._items else None
        self._items.append(whole)
        names = (
            ("conversation.item.created",)
            if self._beta
            else (
                "conversation.item.added",
                "conversation.item.done",
            )
        )
        return [self._event(name, previous_item_id=previous, item=whole) for name in names]

    def _delete_item(self, document: dict[str, Any]) -> Iterable[OutgoingMessage]:
        found = self._find(document)
        if found is None:
            return [self._unknown_item(document)]
        self._items.remove(found)
        return [self._event("conversation.item.deleted", item_id=found["id"])]

    def _retrieve_item(self, document: dict[str, Any]) -> Iterable[OutgoingMessage]:
        found = self._find(document)
        if found is None:
            return [self._unknown_item(document)]
        return [self._event("conversation.item.retrieved", item=found)]

    def _find(self, document: dict[str, Any]) -> dict[str, Any] | None:
        return next((item for item in self._items if item["id"] == document.get("item_id")), None)

    def _unknown_item(self, document: dict[str, Any]) -> OutgoingMessage:
        text = f"Item with item_id '{document.get('item_id')}' not found."
        return self._error(text, "item_not_found", document)

    # ------------------------------------------------------------ audio

    def _append_audio(self, document: dict[str, Any]) -> Iterable[OutgoingMessage]:
        try:
            self._audio += len(base64.b64decode(json_bytes.string(document.get("audio")), validate=True))
        except ValueError:
            text = "Invalid 'audio'. Expected base64-encoded audio bytes."
            return [self._error(text, "invalid_value", document)]
        return ()

    def _clear_audio(self, document: dict[str, Any]) -> Iterable[OutgoingMessage]:
        self._audio = 0
        return [self._event("input_audio_buffer.cleared")]

    def _commit_audio(self, document: dict[str, Any]) -> Iterable[OutgoingMessage]:
        audio_ms, self._audio = self._audio // BYTES_PER_MS, 0
        if audio_ms < 100:
            text = (
                "Error committing input audio buffer: buffer too small. Expected at least 100ms of audio, "
                f"but buffer only has {audio_ms:.2f}ms of audio."
            )
            return [self._error(text, "input_audio_buffer_commit_empty", document)]
        part = {"type": "input_audio", "transcript": f"{audio_ms} ms of speech"}
        previous = self._items[-1]["id"] if self._items else None
        added = self._added({"type": "message", "role": "user", "content": [part]})
        made = self._items[-1]["id"]
        committed = self._event("input_audio_buffer.committed", previous_item_id=previous, item_id=made)
        return [committed, *added]

    # ------------------------------------------------------------ responses

    def _cancel(self, document: dict[str, Any]) -> Iterable[OutgoingMessage]:
        if not self._active:
            text = "Cancellation failed: no active response found"
            return [self._error(text, "response_cancel_not_active", document)]
        self._cancelled = True
        return ()

    def _create_response(self, document: dict[str, Any]) -> Iterable[OutgoingMessage]:
        if self._active:
            text = "Conversation already has an active response in progress."
            return [self._error(text, "conversation_already_has_active_response", document)]
        wanted = document.get("response")
        wanted = wanted if isinstance(wanted, dict) else {}
        self._active, self._cancelled = True, False
        return self._respond(wanted, self._received)

    def _respond(self, wanted: dict[str, Any], received: int) -> Iterator[OutgoingMessage]:
        items = wanted.get("input", self._items)
        conversation = realtime_reply.conversation(self._model, {**self._settings, **wanted}, items)
        reply = self._replying(conversation)
        made = _shared.made_id("resp_", conversation, str(received), 21)
        begun: dict[str, Any] = {
            "object": "realtime.response",
            "id": made,
            "status": "in_progress",
            "status_details": None,
            "output": [],
            "usage": None,
            "metadata": wanted.get("metadata"),
        }
        pauses = (reply.first_event_delay_ms or 0, reply.chunk_delay_ms or 0)
        yield self._event("response.created", pauses[0], response=begun)
        if reply.failure is not None:
            self._active = False
            yield self._event("response.done", response={**begun, **realtime_reply.failed(reply.failure)})
            return
        kind = "audio" if "audio" in self._modalities() else "text"
        final = begun | realtime_reply.final(
            conversation, reply, made, kind if self._beta else f"output_{kind}"
        )
        yield from self._finished(final, wanted, pauses[1])
        if self._cancelled:
            final |= {"status": "cancelled", "status_details": _CANCELLED, "output": []}
        elif wanted.get("conversation") != "none":
            self._items += final["output"]
        self._active = False  # before the event is sent: the next request may come right after it
        yield self._event("response.done", response=final)
        yield self._event("rate_limits.updated", rate_limits=_LIMITS)

    def _finished(
        self, final: dict[str, Any], wanted: dict[str, Any], pause_ms: int
    ) -> Iterator[OutgoingMessage]:
        previous = self._items[-1]["id"] if self._items else None
        aside = wanted.get("conversation") == "none"
        for index, item in enumerate(final["output"]):
            events = item_events(
                final["id"], index, item, beta=self._beta, previous=previous, audio=(_SILENCE,)
            )
            for event in events:
                if self._cancelled:
                    return
                if not (aside and event["type"].startswith("conversation.")):
                    yield OutgoingMessage(orjson.dumps(event).decode(), pause_ms)
            previous = item["id"]

    # ------------------------------------------------------------ events

    def _event(self, kind: str, delay_ms: int = 0, **members: Any) -> OutgoingMessage:
        made = event_id(kind, self._received, len(self._items), *members)
        return OutgoingMessage(orjson.dumps({"type": kind, "event_id": made, **members}).decode(), delay_ms)

    def _missing(self, name: str, document: dict[str, Any]) -> OutgoingMessage:
        return self._error(f"Missing required parameter: '{name}'.", "missing_required_parameter", document)

    def _error(self, message: str, code: str, document: dict[str, Any]) -> OutgoingMessage:
        caused_by = document.get("event_id")
        return OutgoingMessage(error_message("invalid_request_error", message, code, caused_by).decode())


_LIMITS = [
    {"name": name, "limit": 30_000, "remaining": 29_000, "reset_seconds": 1.0}
    for name in ("requests", "tokens")
]
_CANCELLED = {"type": "cancelled", "reason": "client_cancelled"}
