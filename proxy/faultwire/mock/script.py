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
state: the reply depends on the request alone. `tools: [{name: lookup, result: {id: 7}}]` beside
`turns` adds tools to the MCP server.

```yaml
tokens_per_s: 40
jitter: 0.3
failures:
  - {first: 2, error: {status: 503}}
  - {match: {model: "gpt-*"}, every: 5, breaks: {after_events: 3, how: reset}}
```

How fast the model speaks, and which of its calls fail, counted in the order in which they come. Both
work without `turns`, too.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

from pydantic import Field, PositiveFloat

from faultwire.errors import Location, ScenarioError, printable
from faultwire.mock import talk
from faultwire.mock._api import Call, Failure, Reply
from faultwire.mock._mcp_tools import McpTool, stated_tool
from faultwire.mock.failing import BreakSpec, ErrorSpec, FailureSpec
from faultwire.mock.matching import Match
from faultwire.profile.entry_model import Frozen
from faultwire.profile.problems import Problems
from faultwire.profile.yaml import MAX_BYTES, Node, read, shown

if TYPE_CHECKING:
    from faultwire.mock._api import Conversation

M = TypeVar("M", bound=Frozen)
Delay = Annotated[int, Field(ge=0, le=600_000)]


class CallSpec(Frozen):
    """A tool call to make."""

    name: str
    arguments: dict[str, Any] = Field(default_factory=dict)


class ReplySpec(Frozen):
    """The reply. `{last_user}` and `{last_result}` in `text` stand for those words; `state` is that in
    which an agent leaves its task."""

    text: str | None = None
    tool_calls: tuple[CallSpec, ...] = ()
    error: ErrorSpec | None = None
    first_event_delay_ms: Delay | None = None
    chunk_delay_ms: Delay | None = None
    state: Literal["completed", "working", "input-required", "auth-required", "failed", "rejected"] = (
        "completed"
    )

    def filled(self, conversation: Conversation) -> Reply:
        """The reply to this conversation."""
        question, results = talk.current(conversation.view)
        text = (self.text or "").replace("{last_result}", results[-1].text if results else "")
        error = self.error
        failure = None if error is None else error.made()
        return Reply(
            text=text.replace("{last_user}", question.text),
            calls=tuple(Call(call.name, call.arguments) for call in self.tool_calls),
            failure=failure,
            first_event_delay_ms=self.first_event_delay_ms,
            chunk_delay_ms=self.chunk_delay_ms,
            state=self.state,
        )


class Turn(Frozen):
    """One line of a script."""

    match: Match
    reply: ReplySpec


class ToolSpec(Frozen):
    """A tool of the mock's MCP server, which always gives `result`: a text, or JSON."""

    name: Annotated[str, Field(min_length=1, max_length=128)]
    description: str = ""
    result: Any = ""
    is_error: bool = False

    def made(self) -> McpTool:
        """The tool."""
        return stated_tool(self.name, self.description, self.result, is_error=self.is_error)


class Settings(Frozen):
    """What holds for a whole script. `fallback` says what replies where no turn fits."""

    name: str = ""
    description: str = ""
    first_event_delay_ms: Delay = 0
    chunk_delay_ms: Delay = 0
    tokens_per_s: Annotated[PositiveFloat, Field(le=100_000)] | None = None
    """How fast the model speaks; goes before `chunk_delay_ms`."""
    jitter: Annotated[float, Field(ge=0, le=1)] = 0.0
    """By how much of itself each pause may be longer or shorter."""
    seed: int = 42
    """What the jitter is rolled with."""
    fallback: Literal["small_talk", "error"] = "small_talk"
    failures: tuple[FailureSpec, ...] = ()
    """Calls that fail."""
    tools: tuple[ToolSpec, ...] = ()
    """What the MCP server of the mock has, beside its own."""


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
    if node is None and "failures" not in fields:
        problems.add(root, "bad_value", "found no `turns` in the script, expected a list")
    failing = fields.pop("failures", None)
    settings = problems.build(Settings, Node(fields, root.line, root.column), "script")
    failures = [_failure(item, problems) for item in _items(failing, "failures", problems)]
    turns = [_turn(item, problems) for item in _items(node, "turns", problems)]
    problems.settle()
    found = [turn for turn in turns if turn is not None]
    values = {"turns": tuple(found), "failures": tuple(one for one in failures if one is not None)}
    return Script(**(settings.model_dump() if settings else {}) | values)


def _failure(node: Node, problems: Problems) -> FailureSpec | None:
    fields = problems.mapping(node, "a failure") or {}
    parts: dict[str, type[Frozen]] = {"match": Match, "error": ErrorSpec, "breaks": BreakSpec}
    made = [problems.build(kind, fields[key], key) for key, kind in parts.items() if key in fields]
    return problems.build(FailureSpec, node, "failure") if all(part is not None for part in made) else None


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
    """Each part is checked by itself, so that a mistake in it is reported with its own place."""
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
