"""An agent that is a server with an API of its own, asked by a template."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from http.cookies import CookieError, SimpleCookie
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from faultwire import clock
from faultwire.agents._answer import AnswerPath, Missed, as_text
from faultwire.agents._request import call
from faultwire.agents._served import FAILED, CallResult, Served, text_of
from faultwire.agents._template import FORM, Template
from faultwire.agents._user import shown
from faultwire.agents.command import session_word
from faultwire.errors import AgentError
from faultwire.events import header, with_header
from faultwire.mutations._lines import structured

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from faultwire.agents._api import Asked
    from faultwire.agents._dial import HttpReply
    from faultwire.agents._request import Call
    from faultwire.agents._user import ModelUser
    from faultwire.events import Headers

USUAL = '{"input": {prompt}}'
"""The body where no template is given."""
ANSWERS = ("output", "response", "result", "data", "content", "text", "message", "answer", "reply")
"""Members of a JSON object that are taken for the answer, the first that is there, where no path is given."""
CONVERSATION = "x-session-id"
"""The header that names the conversation of several turns where nothing else in the request does."""
CONTEXT = ("traceparent", "baggage")
_IN_QUERY = ("GET", "DELETE")

Values = dict[str, str | tuple[str, ...]]


@dataclass
class HttpAgent(Served):
    """How to ask it. Values of header fields and of the query may hold names as the template does."""

    method: str = "POST"
    query: tuple[tuple[str, str], ...] = ()
    template: str | None = None
    answer_path: AnswerPath | None = None
    structured: bool = True
    restarts: bool = False
    """Is its server started again between the turns of a conversation?"""
    pause_s: float = 0.0
    """How long its user waits before each later turn."""
    user: ModelUser | None = None
    """Who goes on where the scripted turns end."""

    def __post_init__(self) -> None:
        """Read the template. Raises ValueError."""
        super().__post_init__()
        form = FORM in (header(self.headers, "content-type") or "").lower()
        self._template = Template(USUAL if self.template is None else self.template, form=form)
        self._headers = tuple((name, Template(value, plain=True)) for name, value in self.headers)
        self._query = tuple((name, Template(value, plain=True)) for name, value in self.query)
        others = [template for _, template in (*self._headers, *self._query)]
        names = frozenset[str]().union(*(t.names for t in (self._template, *others)))
        self._at_once = "turns" in self._template.names
        self._named = "session" in names

    def call(self, asked: Asked, headers: Headers) -> CallResult:
        """Post the turns one after the other, or all at once where the template takes them so."""
        turns = (asked.text,) if self._at_once else asked.turns
        cookies: dict[str, str] = {}
        result = CallResult("", FAILED)
        paused_s = 0.0
        conversation = _Conversation(turns, self.user)
        for at, turn in enumerate(conversation):
            paused_s += self._pause() if at else 0.0
            problem = self._restart() if at and self.restarts else None
            if problem is not None:
                return CallResult("", FAILED, f"faultwire: before turn {at + 1}: {problem}")
            change = asked.request if at == len(turns) - 1 else None
            try:
                request = self._call(turn, asked, headers, cookies)
            except AgentError as error:  # of this prompt; another one may have what the template names
                return CallResult("", None, f"faultwire: {error.message}")
            result, reply = self.ask(request, change)
            _keep_cookies(reply, cookies)
            if not result.well:
                break
            conversation.answered(result.answer)
        why = "\n".join(filter(None, (*conversation.notes, result.why)))
        return replace(result, paused_s=paused_s, why=why)

    def _pause(self) -> float:
        """Wait as its user does; how long that was, in seconds. The end of a run ends it."""
        if not self.pause_s:
            return 0.0
        began = clock.monotonic()
        self._dialler.wait(self.pause_s)
        return clock.monotonic() - began

    def _restart(self) -> str | None:
        """Kill its server and start it again; why that failed, which is the agent's fault."""
        if self.server is None:
            return None
        self.server.stale()
        try:
            self.server.ready()
        except AgentError as error:
            return error.message
        return None

    # ------------------------------------------------------------ what goes out

    def _call(self, turn: str, asked: Asked, headers: Headers, cookies: Mapping[str, str]) -> Call:
        values: Values = {**(structured(turn) if self.structured else {})}
        word = session_word(asked.session)
        values |= {"prompt": turn, "turns": asked.turns, "session": word}
        fields = self._fields(headers, values)
        several = len(asked.turns) > 1 or self.user is not None
        if several and not (self._at_once or self._named):
            fields = with_header(fields, CONVERSATION, word)
        if cookies:
            fields = with_header(fields, "cookie", "; ".join(f"{k}={v}" for k, v in cookies.items()))
        query = [(name, template.filled(values)) for name, template in self._query]
        text = self._template.filled(values)
        url = urlsplit(self.endpoint)
        if self.method in _IN_QUERY:
            return call(self.method, url, [*query, *_as_query(text, self._template)], fields)
        if self._template.shape == "json" and header(fields, "content-type") is None:
            fields = (*fields, ("content-type", "application/json"))
        return call(self.method, url, query, fields, text.encode("utf-8", "surrogatepass"))

    def _fields(self, headers: Headers, values: Values) -> Headers:
        """The header fields with everything in its place; the trace context stands as it is."""
        own = {name.lower(): template for name, template in self._headers if name.lower() not in CONTEXT}
        return tuple(
            (name, _one_line(own[name.lower()].filled(values)) if name.lower() in own else value)
            for name, value in headers
        )

    # ------------------------------------------------------------ what comes back

    def read(self, reply: HttpReply) -> CallResult:
        """The answer in a reply with a status of 2xx."""
        text = text_of(reply)
        try:
            if self.answer_path is not None:
                if reply.dropped:
                    raise Missed(f"found an answer of more than {len(reply.body)} bytes, expected JSON")
                return CallResult(self.answer_path.find(text))
            return CallResult(_usual_answer(text, reply))
        except Missed as missed:
            why = f"faultwire: no answer: {missed}"
            return CallResult("", FAILED, why, misplaced=str(missed) if missed.misplaced else "")


class _Conversation:
    """The user's turns in order: those that are scripted, then those that a model writes, one at a time, each
    after the answer to the one before it."""

    def __init__(self, scripted: tuple[str, ...], user: ModelUser | None) -> None:
        self._scripted, self._user = scripted, user
        self._turns: list[tuple[str, str]] = []
        self._turn = ""
        self.notes: list[str] = []

    def __iter__(self) -> Iterator[str]:
        """The turns. Raises FaultwireError where the model does not write one."""
        for turn in self._scripted:
            self._turn = turn
            yield turn
        while self._user is not None:
            found = self._user.next_turn(self._turns, len(self._turns) - len(self._scripted))
            if found is None:
                return
            self._turn = found
            self.notes.append(shown(len(self._turns) + 1, self._user.model, found))
            yield found

    def answered(self, answer: str) -> None:
        """What the agent said to the turn that was given last."""
        self._turns.append((self._turn, answer))


def _usual_answer(text: str, reply: HttpReply) -> str:
    """The answer of a server of which no path is known: a member that usually is one, else all of it.

    Raises Missed where the object says that it is an error.
    """
    try:
        document = json.loads(text) if "json" in (header(reply.headers, "content-type") or "") else text
    except (ValueError, RecursionError):
        return text
    if not isinstance(document, dict):
        return as_text(document)
    found = next((document[name] for name in ANSWERS if document.get(name) is not None), None)
    error = next((document[name] for name in ("error", "Error") if document.get(name)), None)
    if error is None and document.get("success") is False:
        error = "success: false"
    if error is not None:
        raise Missed(f"the agent reported a failure: {as_text(error)[:200]}")
    return text if found is None else as_text(found)


def _as_query(text: str, template: Template) -> list[tuple[str, str]]:
    """A request without a body: the members of its template as fields, or all of it as `q`."""
    if template.shape != "json":
        return [("q", text)]
    document: Any = json.loads(text)
    if not isinstance(document, dict):
        return [("q", as_text(document))]
    return [(name, as_text(value)) for name, value in document.items()]


def _one_line(value: str) -> str:
    """A prompt in a header field must not end it."""
    return value.replace("\r", " ").replace("\n", " ").replace("\0", " ")


def _keep_cookies(reply: HttpReply | None, cookies: dict[str, str]) -> None:
    """A server may tell conversations apart by a cookie."""
    for name, value in reply.headers if reply is not None else ():
        if name.lower() != "set-cookie":
            continue
        try:
            cookies.update({key: morsel.coded_value for key, morsel in SimpleCookie(value).items()})
        except CookieError:
            continue
