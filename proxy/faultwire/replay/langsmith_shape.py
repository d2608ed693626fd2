"""A run of LangSmith as an incident session: what was asked, in every shape that inputs have, and what its
tools answered. Pure: a run is anything with the attributes of `langsmith.schemas.Run`."""

from __future__ import annotations

import json
import re  # noqa: TID251 - fixed patterns
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Protocol

from faultwire.errors import ScenarioError, printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

ASKED = (
    "input", "question", "query", "prompt", "message", "messages", "user_input", "user_message", "text",
    "content", "request", "task", "human_input", "inputs", "body",
)  # fmt: skip
"""Members of a run's inputs that hold what was asked, the likeliest first."""
EARLIER = ("chat_history", "history")
"""Members that hold the earlier messages."""
ROLES = {"human": "user", "user": "user", "HumanMessage": "user", "HumanMessageChunk": "user",
         "ai": "assistant", "assistant": "assistant", "AIMessage": "assistant", "AIMessageChunk": "assistant",
         "system": "system", "developer": "system", "SystemMessage": "system",
         "tool": "tool", "function": "tool", "ToolMessage": "tool", "FunctionMessage": "tool"}  # fmt: skip
DEPTH = 6
NAMED = 8
_STATUS = re.compile(
    r"(?:\b([45][0-9]{2}) (?:Client|Server) Error"
    r"|(?:status(?: code)?|HTTP|[Ee]rror code)[ :=]{1,3}([45][0-9]{2}))\b"
)
"""How HTTP clients tell a status in the text of their errors."""


class Run(Protocol):
    """What is read of a run."""

    id: Any
    name: str
    run_type: str
    inputs: Any
    outputs: Any
    error: str | None
    start_time: datetime
    end_time: datetime | None
    child_runs: Any


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation."""

    role: str
    text: str


def session_of(run: Run, contract: str) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The session's document, and what it cannot say. Raises ScenarioError where nothing in the run's
    inputs is what was asked; the error names what they hold."""
    turns = asked(run.inputs)
    if not turns or turns[-1].role != "user":
        last = max((at for at, one in enumerate(turns) if one.role == "user"), default=-1)
        turns = turns[: last + 1]
    if not turns:
        raise ScenarioError(
            f"found {_held(run.inputs)} as the inputs of run `{run.id}`, expected the agent's input",
            code="scenario.no_input",
            hint=f"understood are {', '.join(ASKED[:7])} and others: a text, or messages",
        )
    tools = list(_tools(run))
    others = sorted({child.run_type for child in _all(run)} & {"retriever"})
    notes = tuple(f"runs of type `{kind}` are not tools: their results are not replayed" for kind in others)
    context = [{"role": one.role, "content": one.text} for one in turns[:-1]]
    return {
        "id": str(run.id),
        "name": run.name,
        "source": "langsmith",
        "captured_at": _iso(run.start_time),
        "input": turns[-1].text,
        "context": context,
        "tool_responses": [_answer(tool) for tool in tools],
        "expected_failure": _failure(run, tools),
        "contract": contract,
    }, notes


def failed_inside(run: Run) -> bool:
    """Did a child run fail although the run itself did not?"""
    return not run.error and any(child.error for child in _all(run))


# ---------------------------------------------------------------- inputs


def asked(inputs: Any, depth: int = DEPTH) -> list[Message]:
    """The conversation that a run's inputs hold, up to what was asked last; empty where they hold none."""
    if depth <= 0:
        return []
    if isinstance(inputs, str):
        return [Message("user", inputs)] if inputs.strip() else []
    if isinstance(inputs, list):
        return _messages(inputs, depth)
    if not isinstance(inputs, dict):
        return []
    message = _message(inputs)
    if message is not None:
        return [message] if message.text else []
    before = [
        one for key in EARLIER if isinstance(inputs.get(key), list) for one in _messages(inputs[key], depth)
    ]
    for key in ASKED:
        found = asked(inputs.get(key), depth - 1)
        if any(one.role == "user" for one in found):
            return [*before, *found]
    inner = [value for key, value in inputs.items() if key not in EARLIER]
    if len(inner) == 1:  # a single member can only be what was asked, whatever it is called
        return [*before, *asked(inner[0], depth - 1)]
    return []


def _messages(items: Sequence[Any], depth: int) -> list[Message]:
    """A list of messages, also one inside of another, as models that take several conversations get it."""
    if len(items) == 1 and isinstance(items[0], list) and not _is_pair(items[0]):
        return _messages(items[0], depth - 1) if depth > 1 else []
    if items and all(isinstance(one, str) for one in items) and not _is_pair(items):
        return [Message("user", one) for one in items if one]
    if _is_pair(items):
        items = [items]
    made = [_message(one) for one in items]
    return [one for one in made if one is not None and one.text]


def _is_pair(item: Any) -> bool:
    """Is it `["human", "…"]`?"""
    return isinstance(item, list | tuple) and len(item) == 2 and item[0] in ROLES and isinstance(item[1], str)


def _message(item: Any) -> Message | None:
    """A message in the shapes of OpenAI, Anthropic and LangChain (written out, or as a constructor)."""
    if _is_pair(item):
        return Message(ROLES[item[0]], item[1])
    if not isinstance(item, dict):
        return None
    if item.get("type") == "constructor" and isinstance(item.get("kwargs"), dict):
        names = item.get("id")
        kind = names[-1] if isinstance(names, list) and names else ""
        return _text_message(ROLES.get(str(kind)), item["kwargs"].get("content"))
    if isinstance(item.get("data"), dict) and "content" in item["data"]:
        return _text_message(ROLES.get(str(item.get("type"))), item["data"]["content"])
    if "content" in item and (item.get("role") in ROLES or item.get("type") in ROLES):
        role = item["role"] if item.get("role") in ROLES else item["type"]
        return _text_message(ROLES[role], item["content"])
    return None


def _text_message(role: str | None, content: Any) -> Message | None:
    return Message(role, _words(content)) if role is not None else None


def _words(content: Any) -> str:
    """The text of a message's content: a text, or the texts of its blocks."""
    if isinstance(content, str):
        return content
    blocks = content if isinstance(content, list) else []
    texts = [
        one if isinstance(one, str) else one.get("text") for one in blocks if isinstance(one, str | dict)
    ]
    return "\n".join(text for text in texts if isinstance(text, str))


def _held(inputs: Any) -> str:
    if not isinstance(inputs, dict):
        return f"a value of type `{type(inputs).__name__}`"
    names = [printable(str(key))[:40] for key in inputs][:NAMED]
    more = f" and {len(inputs) - NAMED} more" if len(inputs) > NAMED else ""
    return f"the members `{'`, `'.join(names)}`{more}" if names else "nothing"


# ---------------------------------------------------------------- tools


def _all(run: Run) -> Iterator[Run]:
    for child in run.child_runs or ():
        yield child
        yield from _all(child)


def _tools(run: Run) -> Iterator[Run]:
    """The tools that ran, in the order in which they began; what runs inside of one is its own business."""

    def below(one: Run) -> Iterator[Run]:
        for child in one.child_runs or ():
            if child.run_type == "tool":
                yield child
            else:
                yield from below(child)

    yield from sorted(below(run), key=lambda tool: (_moment(tool.start_time), str(tool.id)))


def _answer(tool: Run) -> dict[str, Any]:
    made: dict[str, Any] = {"tool": tool.name}
    if tool.error:
        text = tool.error.partition("Traceback (most recent call last)")[0].strip() or tool.error
        found = _STATUS.search(text)
        made |= {"response": text, "status": int(found[1] or found[2]) if found else 0}
    else:
        response, failed = _output(tool.outputs)
        made |= {"response": response, "status": 0 if failed else 200}
    if tool.end_time is not None:
        took = (_moment(tool.end_time) - _moment(tool.start_time)).total_seconds() * 1000
        made["latency_ms"] = max(0, round(took))
    return made


def _output(outputs: Any, depth: int = DEPTH) -> tuple[Any, bool]:
    """What a tool returned, and whether that was an error as LangChain's tool messages tell it."""
    if isinstance(outputs, dict) and depth > 0:
        if len(outputs) == 1 and "output" in outputs:
            return _output(outputs["output"], depth - 1)
        inner = outputs.get("kwargs") if outputs.get("type") == "constructor" else outputs
        if isinstance(inner, dict) and _message(outputs) is not None:
            content = inner.get("content")
            text = content if isinstance(content, str) else _words(content)
            return text, inner.get("status") == "error"
    return outputs, False


def _failure(run: Run, tools: Sequence[Run]) -> str:
    if run.error:
        return run.error.partition("Traceback (most recent call last)")[0].strip()[:2000] or run.error[:2000]
    broken = [f"tool `{tool.name}` failed" for tool in tools if tool.error]
    return "; ".join(dict.fromkeys(broken))[:2000]


def _moment(moment: datetime) -> datetime:
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


def _iso(moment: datetime) -> str:
    return _moment(moment).astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def plain(document: Mapping[str, Any]) -> dict[str, Any]:
    """The document with nothing in it that JSON does not know: what is left is written as its text."""
    text = json.dumps(dict(document), default=str, ensure_ascii=True)
    made: dict[str, Any] = json.loads(text)
    return made
