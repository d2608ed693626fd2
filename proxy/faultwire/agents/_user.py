"""A user whose turns a model writes, at any endpoint that speaks OpenAI's Chat Completions.

It is ours and not the agent's: its requests go straight to its endpoint, past the proxy, so that they are on
no tape and no verdict counts them, and they name faultwire as who asks. What it wrote is kept by what it was
asked: a run whose agent says the same again has the same user, without the model. Only so many questions are
asked in a run.
"""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from faultwire.agents._answer import Missed
from faultwire.agents._dial import NoReply
from faultwire.agents._request import call, pieces
from faultwire.agents.openai import PATHS, chat_text
from faultwire.errors import FaultwireError
from faultwire.text import safe

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from faultwire.agents._dial import HttpReply
    from faultwire.agents._request import Call
    from faultwire.events import Headers
    from faultwire.mutations._kept import Kept

    Send = Callable[[Call], HttpReply]

DONE = "DONE"
"""What the model writes where its user has nothing more to say."""
AGENT = "faultwire-user/1"
"""Who asks, in the requests to its endpoint."""
LONGEST = 8000
"""Characters of a turn."""
QUOTED = 200
ROLE = (
    "You play the user of an assistant, in a test of the assistant. What you want: {goal}\n"
    "Write the user's next message and nothing else: no quotation marks, no role, no comment. Never answer "
    f"in the assistant's place. Write {DONE} alone once you have what you want, or cannot get it."
)


@dataclass
class ModelUser:
    """The rest of a conversation: up to `turns` more of the user's turns, by `model`. `send` makes a call and
    raises NoReply. Used from several threads."""

    endpoint: str
    model: str
    goal: str
    send: Send
    kept: Kept
    turns: int = 4
    calls: int = 100
    api_key: str | None = field(default=None, repr=False)
    parameters: Mapping[str, Any] = field(default_factory=dict)
    asked: int = 0
    """Questions asked of the model so far; what was kept is no question."""
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def next_turn(self, conversation: Sequence[tuple[str, str]], written: int) -> str | None:
        """What the user says after these turns, each with its answer, of which the model wrote the last
        `written`; None where the conversation is over. Raises FaultwireError where nobody can say."""
        if written >= self.turns:
            return None
        body = self.body(conversation)
        about = {"kind": "user", "endpoint": self.endpoint, "body": body}
        text = self.kept.get(about)
        if text is None:
            text = self._ask(body)
            self.kept.put(about, text)
        return None if text.strip().rstrip(".") == DONE or not text.strip() else text.strip()[:LONGEST]

    def body(self, conversation: Sequence[tuple[str, str]]) -> dict[str, Any]:
        """The request: to the model the user is the assistant, and the assistant is who it talks to."""
        messages = [{"role": "system", "content": ROLE.format(goal=self.goal)}]
        for turn, answer in conversation:
            messages += [{"role": "assistant", "content": turn}, {"role": "user", "content": answer}]
        return {"temperature": 0, **self.parameters, "model": self.model, "messages": messages}

    def _ask(self, body: Mapping[str, Any]) -> str:
        with self._lock:
            if self.asked >= self.calls:
                raise FaultwireError(
                    f"the model `{self.model}` that writes the user's turns was asked {self.calls} times, "
                    "and more turns are to come",
                    code="agent.user_budget",
                    hint="raise `calls` of `agent.user`; what was written until here is kept",
                )
            self.asked += 1
        url = urlsplit(self.endpoint)
        if not url.path.endswith(PATHS["chat"]):
            url = url._replace(path=url.path.rstrip("/") + PATHS["chat"])
        headers: Headers = (("content-type", "application/json"), ("user-agent", AGENT))
        if self.api_key:
            headers = (*headers, ("authorization", f"Bearer {self.api_key}"))
        try:
            reply = self.send(call("POST", url, headers=headers, body=json.dumps(body).encode()))
        except NoReply as error:
            raise self._failed(error.why) from None
        if not 200 <= reply.status < 300:
            raise self._failed(
                f"answered HTTP {reply.status}: {reply.body[:QUOTED].decode('utf-8', 'replace')}"
            )
        try:
            return chat_text(json.loads(reply.body))
        except (ValueError, RecursionError, Missed) as error:
            raise self._failed(f"gave no text: {error}") from None

    def _failed(self, why: str) -> FaultwireError:
        # A server may quote the key that it was given.
        clean = why.replace(self.api_key, "[key]") if self.api_key else why
        return FaultwireError(
            f"the model `{self.model}` that writes the user's turns {safe(clean)}",
            code="agent.user_failed",
            hint="what it wrote until here is kept, and the next run goes on from there",
        )


def shown(number: int, model: str, text: str) -> str:
    """A line for the report: a turn that nobody scripted."""
    return f"faultwire: the user's turn {number}, written by `{model}`: {' '.join(text.split())}"


def made(settings: Any, kept: Kept, dial: Callable[..., HttpReply], timeout_s: float) -> ModelUser:
    """The user of these settings (`agents.settings.ModelUserSettings`); `dial` is a dialler's `ask`."""
    return ModelUser(
        settings.endpoint,
        settings.model,
        settings.goal,
        lambda request: dial(request, pieces(request), timeout_s=timeout_s),
        kept,
        settings.turns,
        settings.calls,
        settings.api_key,
        settings.parameters,
    )
