"""What the mock says, as a YAML of turns.

```yaml
first_event_delay_ms: 200
turns:
  - match: {last_user: "*weather*"}
    reply: {tool_calls: [{name: get_weather, arguments: {city: Paris}}]}
  - match: {last_tool: get_weather}
    reply: {text: "It is {last_result}."}
  - match: {turn: 3}
    reply: {error: {status: 429, retry_after_s: 1}}
```

The first turn whose `match` fits the conversation replies; without one, small talk does. There is no
state: what is said depends on the request alone.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

from pydantic import Field, NonNegativeFloat, NonNegativeInt

from faultwire import _core
from faultwire.errors import Location, ScenarioError
from faultwire.mock import talk
from faultwire.mock._api import Call, Failure, Reply
from faultwire.profile.model import Frozen, Globs
from faultwire.profile.problems import Problems
from faultwire.profile.yaml import MAX_BYTES, Node, printable, read, shown

if TYPE_CHECKING:
    from faultwire.mock._api import Conversation

M = TypeVar("M", bound=Frozen)
Delay = Annotated[int, Field(ge=0, le=600_000)]


class Match(Frozen):
    """When a turn replies: all keys must fit. `turn` counts the model's earlier messages, from 0."""

    last_user: Globs | None = None
    last_tool: Globs | None = None
    last_result: Globs | None = None
    system: Globs | None = None
    model: Globs | None = None
    turn: NonNegativeInt | None = None

    def fits(self, conversation: Conversation) -> bool:
        """Is the conversation at this point?"""
        view = conversation.view
        result = view.results[-1] if view.results and view.results[-1].new else None
        said = sum(1 for turn in view.turns if turn.role == "assistant")
        return (
            (self.turn is None or self.turn == said)
            and _like(self.last_user, talk.current(view)[0].text)
            and _like(self.last_tool, (result.name or "") if result else None)
            and _like(self.last_result, result.text if result else None)
            and _like(self.system, view.system)
            and _like(self.model, view.model)
        )


class CallSpec(Frozen):
    """A tool call to make."""

    name: str
    arguments: dict[str, Any] = Field(default_factory=dict)


class ErrorSpec(Frozen):
    """An error to answer with, in the provider's shape."""

    status: Annotated[int, Field(ge=400, le=599)]
    message: str | None = None
    retry_after_s: NonNegativeFloat | None = None


class ReplySpec(Frozen):
    """What is said. `{last_user}` and `{last_result}` in `text` stand for those words."""

    text: str | None = None
    tool_calls: tuple[CallSpec, ...] = ()
    error: ErrorSpec | None = None
    first_event_delay_ms: Delay | None = None
    chunk_delay_ms: Delay | None = None

    def filled(self, conversation: Conversation) -> Reply:
        """The reply to this conversation."""
        question, results = talk.current(conversation.view)
        text = (self.text or "").replace("{last_result}", results[-1].text if results else "")
        error = self.error
        failure = None if error is None else Failure(error.status, error.message, error.retry_after_s)
        return Reply(
            text=text.replace("{last_user}", question.text),
            calls=tuple(Call(call.name, call.arguments) for call in self.tool_calls),
            failure=failure,
            first_event_delay_ms=self.first_event_delay_ms,
            chunk_delay_ms=self.chunk_delay_ms,
        )


class Turn(Frozen):
    """One line of a script."""

    match: Match
    reply: ReplySpec


class Settings(Frozen):
    """What holds for a whole script. `fallback` says what replies where no turn fits."""

    name: str = ""
    description: str = ""
    first_event_delay_ms: Delay = 0
    chunk_delay_ms: Delay = 0
    fallback: Literal["small_talk", "error"] = "small_talk"


class Script(Settings):
    """A script, ready to be asked."""

    turns: tuple[Turn, ...] = ()

    def reply(self, conversation: Conversation) -> Reply:
        """What to say next."""
        for turn in self.turns:
            if turn.match.fits(conversation):
                return turn.reply.filled(conversation)
        if self.fallback == "error":
            return Reply(failure=Failure(400, "no turn of the mock's script fits this conversation"))
        return talk.reply(conversation)


def load(path: Path | str) -> Script:
    """The script in a file. Raises ScenarioError, whose `also` holds the other problems of the file."""
    try:
        with Path(path).open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        why = printable(error.strerror or "unknown error").lower()
        raise ScenarioError(
            f"found no readable file ({why}), expected a script of turns",
            code="scenario.not_found",
            where=Location(printable(str(path))),
        ) from None
    return parse(data, str(path))


def parse(text: bytes | str, path: str) -> Script:
    """The script in a text; `path` is for messages."""
    problems = Problems(path, ScenarioError)
    root = read(text, path, ScenarioError)
    fields = problems.mapping(root, "a script") or {}
    node = fields.pop("turns", None)
    if node is None:
        problems.add(root, "bad_value", "found no `turns` in the script, expected a list")
    settings = problems.build(Settings, Node(fields, root.line, root.column), "script")
    turns = [_turn(item, problems) for item in _items(node, "turns", problems)]
    problems.settle()
    found = [turn for turn in turns if turn is not None]
    return Script(turns=tuple(found), **(settings.model_dump() if settings else {}))


def _turn(node: Node, problems: Problems) -> Turn | None:
    fields = problems.mapping(node, "a turn")
    if fields is None:
        return None
    for key in fields:
        if key not in Turn.model_fields:
            problems.unknown(fields[key], key, "a turn", list(Turn.model_fields))
    match = problems.build(Match, fields["match"], "match") if "match" in fields else Match()
    if "reply" not in fields:
        problems.add(node, "bad_value", "found no `reply` in a turn, expected what is said")
        return None
    reply = _reply(fields["reply"], problems)
    return Turn(match=match, reply=reply) if match and reply else None


def _reply(node: Node, problems: Problems) -> ReplySpec | None:
    """Each part is checked by itself, so that a mistake in it is told with its own place."""
    fields = problems.mapping(node, "`reply`")
    if fields is None:
        return None
    calls = [
        problems.build(CallSpec, item, "tool_calls")
        for item in _items(fields.get("tool_calls"), "tool_calls", problems)
    ]
    error = problems.build(ErrorSpec, fields["error"], "error") if "error" in fields else None
    rest = {key: value for key, value in fields.items() if key not in ("tool_calls", "error")}
    plain = problems.build(ReplySpec, Node(rest, node.line, node.column), "reply")
    if not fields.keys() & {"text", "tool_calls", "error"}:
        problems.add(node, "bad_value", "found an empty `reply`, expected `text`, `tool_calls` or `error`")
    if "error" in fields and fields.keys() & {"text", "tool_calls"}:
        problems.add(fields["error"], "bad_value", "found `error` beside other words, expected it alone")
    if plain is None:
        return None
    return plain.model_copy(update={"tool_calls": tuple(call for call in calls if call), "error": error})


def _items(node: Node | None, name: str, problems: Problems) -> list[Node]:
    if node is None:
        return []
    if isinstance(node.value, list):
        return node.value
    problems.add(node, "bad_value", f"found {shown(node.value)} for `{name}`, expected a list")
    return []


def _like(globs: Globs | None, value: str | None) -> bool:
    if globs is None:
        return True
    if value is None:
        return False
    return any(_core.glob_match(glob, value) for glob in ((globs,) if isinstance(globs, str) else globs))
