"""Holds an answer at one of its events, at a tool call in it, or at what a tool gives back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from faultwire._core import glob_match
from faultwire.errors import UsageError, WireError
from faultwire.events import Cut, Send
from faultwire.faults._wire import protocol_of
from faultwire.mitm.breakpoints import edits
from faultwire.mitm.breakpoints.held import ALIVE_IN
from faultwire.mitm.breakpoints.mutators import Holding
from faultwire.wire import tool_site
from faultwire.wire.editing.api import Change
from faultwire.wire.types import Rewrite

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from faultwire.events import Action, Chunk, Exchange, ToolCall
    from faultwire.mitm.breakpoints.desk import Desk
    from faultwire.mitm.settings import DecisionSettings
    from faultwire.wire.types import StreamEditor

Calls = tuple["ToolCall", ...]


class HeldAnswer(Holding):
    """Holds at the `event`th event, or at the first call of a tool like one of `tools`.

    The events of a tool call stay together: from its first one on they are held back until the call is whole,
    and an event in it holds the whole call.
    """

    def __init__(
        self, desk: Desk, breakpoint_: str, at: str, exchange: Exchange, event: int, tools: tuple[str, ...]
    ) -> None:
        super().__init__(desk, breakpoint_, at, exchange)
        self._event, self._tools, self._count = event, tools, 0
        protocol = protocol_of(exchange)
        self._edits = protocol.edits if protocol is not None and protocol.edits.can("answer") else None
        self._found: Calls = ()
        self._new: Calls | None = None
        self._probe = self._editor(self._look)
        self._editing = self._editor(self._replaced)
        self._back: list[bytes] = []
        """Events that are held back, as they came; and what stands for them where a call is edited."""
        self._made: list[bytes] = []
        self._was: Calls = ()
        self._pending = 0
        """Messages of a WebSocket that the probe holds back."""
        self._over = self._answered = False
        self._instead: bytes | None = None

    def _editor(self, calls: Any) -> StreamEditor | None:
        return None if self._edits is None else self._edits.stream_editor(Change(calls=calls))

    def _look(self, calls: Calls) -> Calls:
        self._found = calls
        return calls

    def _replaced(self, calls: Calls) -> Calls:
        """The calls as they were edited; later answers of the same WebSocket have calls of their own."""
        return calls if self._new is None or calls != self._was else self._new

    # ------------------------------------------------------------ chunks

    def feed(self, chunk: Chunk) -> Iterable[Action]:
        """What goes on in place of this chunk."""
        if self._answered:
            return
        if chunk.unit == "bytes" or (self._over and self._new is None):
            yield Send(chunk.data)
        elif chunk.unit == "body":
            yield from self._whole(chunk.data)
        elif self._over and self._editing is not None:
            yield from map(Send, self._editing.feed(chunk.data))
        else:
            yield from self._next(chunk.data, socket=chunk.text is not None)

    def finish(self) -> Iterable[Action]:
        """What was held back of an answer that ended early."""
        yield from map(Send, self._back)
        if self._new is not None and self._editing is not None:
            yield from map(Send, self._editing.finish())

    def _next(self, event: bytes, *, socket: bool) -> Iterator[Action]:
        self._count += 1
        if socket and self.at == "tool_call" and self._probe is not None:
            yield from self._next_message(event, self._probe)
            return
        out, calls = ((event,), ()) if socket or self._probe is None else self._looked(self._probe, event)
        if calls:
            yield from self._at_calls(event, calls)
        elif out == (event,) and not self._back:
            if self._editing is not None and not socket:
                self._editing.feed(event)
            yield from self._at_event(event, socket=socket)
        else:
            self._back.append(event)
            if self._editing is not None:
                self._made += self._editing.feed(event)

    def _next_message(self, event: bytes, probe: StreamEditor) -> Iterator[Action]:
        """A message of a WebSocket: what the editor keeps together stays together, and goes on as it was once
        all of it is there and has no call."""
        out, calls = self._looked(probe, event)
        self._pending += 1 - len(out)
        if calls:
            yield from self._at_calls(event, calls)
            return
        made = () if self._editing is None else self._editing.feed(event)
        self._back.append(event)
        self._made += made
        if self._pending == 0:
            back, self._back, self._made = self._back, [], []
            yield from map(Send, back)

    def _looked(self, probe: StreamEditor, event: bytes) -> tuple[tuple[bytes, ...], Calls]:
        """What an editor lets through, and the calls that it knows with this event."""
        self._found = ()
        out = tuple(probe.feed(event))
        return out, self._found

    # ------------------------------------------------------------ an event

    def _at_event(self, event: bytes, *, socket: bool) -> Iterator[Action]:
        if self.at != "event" or self._count < self._event:
            yield Send(event)
            return
        self._over = True
        shown: dict[str, Any] = {"number": self._count}
        raw = self.desk.veil.body(event, self._headers())
        if raw is not None and len(raw) <= edits.SHOWN:
            shown["event"] = raw
        text = edits.event_text(self.exchange, event)
        if text is not None:
            shown["text"] = self.desk.veil.text(text)

        def apply(asked: DecisionSettings) -> str:
            return self._apply_event(asked, event, text)

        may = ("resume", "cut") if socket else ("resume", "answer", "cut")
        yield from self.hold(shown, may, apply, alive=self._alive() and not socket, what=f" {self._count}")
        yield from self._after(event)

    def _apply_event(self, asked: DecisionSettings, event: bytes, text: str | None) -> str:
        veil = self.desk.veil
        if asked.do == "resume" and asked.text is not None and text is None:
            raise UsageError(
                "found a text for an event whose text cannot be edited by itself (it has none, or its "
                "protocol packs it), expected the event as bytes",
                code="control.edit",
                hint="look at it with `faultwire control held`, and give `--raw`; it stays held",
            )
        if asked.do == "answer" or asked.raw is not None:
            self._instead = edits.whole_event(veil.restored(asked.raw or "", in_json=True), event)
        elif asked.text is not None and text is not None:
            self._instead = edits.event_with_text(event, text, veil.restored(asked.text))
        return "" if self._instead in (None, event) else f"event {self._count}"

    def _after(self, event: bytes) -> Iterator[Action]:
        """What was decided on: the event, another one, or an end."""
        if self.effect is not None and "answered" in self.effect:
            self._answered = True
            yield Send(self._instead or b"")
            yield Cut(clean=True)
        else:
            yield Send(event if self._instead is None else self._instead)

    # ------------------------------------------------------------ calls

    def _due(self, calls: Calls) -> bool:
        if self.at == "event":
            return self._count >= self._event
        named = not self._tools or any(glob_match(glob, c.name) for glob in self._tools for c in calls)
        return self.at == "tool_call" and named

    def _at_calls(self, event: bytes, calls: Calls) -> Iterator[Action]:
        """The last event of calls came: `event`, before which others are held back."""
        back, self._back = [*self._back, event], []
        made, self._made = self._made, []
        if self._due(calls):
            self._over = True
            yield from self._hold_calls(calls, alive=self._alive())
        if self._editing is not None:
            made += self._editing.feed(event)
        yield from map(Send, back if self._new is None else made)

    def _hold_calls(self, calls: Calls, *, alive: bool) -> Iterator[Action]:
        shown: dict[str, Any] = {"calls": edits.calls_shown(calls, self.exchange.request, self.desk.veil)}
        if self._count:
            shown["number"] = self._count

        def apply(asked: DecisionSettings) -> str:
            new, words = edits.calls_edited(calls, asked, self.desk.veil)
            self._new, self._was = (new if words else None), calls
            return words

        names = ", ".join(f"`{call.name}`" for call in calls)
        yield from self.hold(shown, ("resume", "cut"), apply, alive=alive, what=f" of {names}")

    # ------------------------------------------------------------ a whole body

    def _whole(self, body: bytes) -> Iterator[Action]:
        """An answer in one piece: its calls, what a tool gave, or all of it."""
        self._over = True
        calls = self._calls_in(body)
        if self.at == "tool_call" and not (calls and self._due(calls)):
            yield Send(body)
            return
        shown = self._body_shown(body, calls)

        def apply(asked: DecisionSettings) -> str:
            self._instead, words = self._body_edited(body, calls, asked)
            return words

        yield from self.hold(shown, ("resume", "cut"), apply)
        yield Send(body if self._instead is None else self._instead)

    def _calls_in(self, body: bytes) -> Calls:
        self._found = ()
        if self._edits is not None and self.exchange.kind == "llm":
            try:
                self._edits.change(body, Change(calls=self._look))
            except WireError:
                return ()
        return self._found

    def _body_shown(self, body: bytes, calls: Calls) -> dict[str, Any]:
        shown: dict[str, Any] = {}
        if calls:
            shown["calls"] = edits.calls_shown(calls, self.exchange.request, self.desk.veil)
        raw = self.desk.veil.body(body, self._headers())
        if raw is not None and len(raw) <= edits.SHOWN:
            shown["body"] = raw
        return shown

    def _body_edited(self, body: bytes, calls: Calls, asked: DecisionSettings) -> tuple[bytes | None, str]:
        if asked.raw is not None:
            new = self.desk.veil.restored(asked.raw, in_json=True).encode()
            return (new, "its body") if new != body else (None, "")
        if not asked.calls or self._edits is None:
            return None, ""
        changed, words = edits.calls_edited(calls, asked, self.desk.veil)
        return (self._edits.change(body, Change(calls=lambda _: changed)), words) if words else (None, "")

    def _headers(self) -> tuple[tuple[str, str], ...]:
        return self.exchange.response.headers if self.exchange.response is not None else ()

    def _alive(self) -> bool:
        return self.exchange.protocol in ALIVE_IN


class HeldResult(HeldAnswer):
    """Holds what a tool gives back in an exchange of its own, by HTTP or by MCP."""

    def _next(self, event: bytes, *, socket: bool) -> Iterator[Action]:
        yield from self._whole(event)

    def _whole(self, body: bytes) -> Iterator[Action]:
        site, texts = tool_site(self.exchange), list[str]()
        if site is None:
            yield Send(body)
            return
        site.rewritten(body, lambda text, _: texts.append(text))
        if not texts:
            yield Send(body)
            return
        self._over = True
        name = self.exchange.tool
        shown = {"results": [{"tool": name, "text": self.desk.veil.text(text)} for text in texts]}

        def apply(asked: DecisionSettings) -> str:
            order = iter(range(len(texts)))

            def rewrite(text: str, is_error: bool) -> Rewrite | None:
                new = asked.texts.get(str(next(order, -1)))
                new = None if new is None else self.desk.veil.restored(new)
                return None if new in (None, text) else Rewrite(new or "", is_error, raw=True)

            self._instead = site.rewritten(body, rewrite)
            return f"the result of `{name}`" if self._instead != body else ""

        yield from self.hold(shown, ("resume", "cut"), apply, what=f" of `{name}`")
        yield Send(body if self._instead is None else self._instead)
