"""The `agent` section: our own types, and Flakestorm's three."""

from __future__ import annotations

import re  # noqa: TID251 - the patterns below are fixed
import shlex
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from faultwire.agents.settings import (
    CommandSettings,
    HttpSettings,
    LangchainSettings,
    OpenAISettings,
    PythonSettings,
    Reset,
)
from faultwire.errors import did_you_mean
from faultwire.profile.yaml import Node, shown

if TYPE_CHECKING:
    from pathlib import Path

    from faultwire.agents.settings import AgentSettings
    from faultwire.config.reading import Reading

TYPES: dict[str, type[Reset]] = {
    "command": CommandSettings,
    "http": HttpSettings,
    "openai": OpenAISettings,
    "python": PythonSettings,
    "langchain": LangchainSettings,
}
FLAKESTORM = ("http", "python", "langchain")
"""The types that Flakestorm has, too: there, an unknown key is a warning."""
RETRIES = "set `advanced: {retries: …}`"

_COMMANDS = ("command", "reset_command")
_VARIABLES = ("env", "headers", "query_params")
_OBJECT = re.compile(r"[^\W\d][\w.]*:[^\W\d][\w.]*")
_PLACE = re.compile(r"\{[A-Za-z_][^{}\"\n]*\}")


def agent(node: Node | None, root: Node, reading: Reading) -> AgentSettings | None:
    """The settings of the agent, or None where something is wrong with them, which is noted."""
    if node is None or node.value is None:
        message = "found no `agent`, expected the program under test"
        reading.add(node or root, "bad_value", message, "`faultwire init` writes an example")
        return None
    fields = reading.mapping(node, "`agent`")
    if fields is None:
        return None
    before = len(reading)
    kind = _type(fields, reading)
    if kind is None:
        return None
    fields = {key: _written(key, value, reading) for key, value in fields.items()}
    _resets(fields, reading)
    fields["type"] = Node(kind, node.line, node.column, node.key)
    made = Node(fields, node.line, node.column, node.key)
    if kind in FLAKESTORM:
        every = {name for model in TYPES.values() for name in model.model_fields}
        every -= set(TYPES[kind].model_fields)
        notes = {"retries": RETRIES}
        built = reading.flakestorm(TYPES[kind], made, "agent", elsewhere=every, notes=notes)
    else:
        built = reading.build(TYPES[kind], made, "agent")
    if built is None:
        return None
    _look(built, fields, reading)
    if len(reading) > before:
        return None
    return _placed(built, reading.folder)  # type: ignore[return-value] # one of the union's


def _type(fields: dict[str, Node], reading: Reading) -> str | None:
    given = fields.get("type")
    if given is None or given.value is None:
        return "command" if "command" in fields else "http"
    if isinstance(given.value, str) and given.value in TYPES:
        return given.value
    expected = ", ".join(f"`{name}`" for name in TYPES)
    hint = did_you_mean(str(given.value), TYPES) if isinstance(given.value, str) else None
    reading.add(given, "bad_value", f"found {shown(given.value)} for `agent.type`, expected {expected}", hint)
    return None


def _written(key: str, node: Node, reading: Reading) -> Node:
    """A value as the settings want it: a command in words, variables as texts, a method in capitals."""
    if key in _COMMANDS:
        return _words(node, f"agent.{key}", reading)
    if key in _VARIABLES:
        return _texts(node)
    if key == "method" and isinstance(node.value, str):
        return Node(node.value.strip().upper(), node.line, node.column, node.key)
    if key == "start" and isinstance(node.value, dict):
        inner = dict(node.value)
        if "command" in inner:
            inner["command"] = _words(inner["command"], "agent.start.command", reading)
        if "env" in inner:
            inner["env"] = _texts(inner["env"])
        return Node(inner, node.line, node.column, node.key)
    return node


def _words(node: Node, what: str, reading: Reading) -> Node:
    """A command in one text is cut into words as a shell cuts it; no shell runs it."""
    if node.value == [] or node.value == "":
        reading.add(node, "bad_value", f"found an empty `{what}`, expected a program")
    if not isinstance(node.value, str):
        return node
    try:
        words = shlex.split(node.value)
    except ValueError:
        message = f"found an unclosed quote in `{what}`"
        reading.add(node, "bad_value", message, "write the words as a list")
        words = [node.value]
    place = (node.line, node.column)
    return Node([Node(word, *place) for word in words], *place, node.key)


def _texts(node: Node) -> Node:
    """A mapping whose whole numbers and booleans are texts: variables and headers are nothing else."""
    if not isinstance(node.value, dict):
        return node
    inner = {
        key: Node(str(value.value).lower(), value.line, value.column, value.key)
        if isinstance(value.value, int)
        else value
        for key, value in node.value.items()
    }
    return Node(inner, node.line, node.column, node.key)


def _resets(fields: dict[str, Node], reading: Reading) -> None:
    given = [key for key in Reset.model_fields if key in fields and fields[key].value is not None]
    for key in given[1:]:
        message = f"found `{key}` beside `{given[0]}`, expected one way to reset the agent"
        reading.add(fields[key].key or fields[key], "bad_value", message)


# ---------------------------------------------------------------- what the types alone do not tell


def _look(built: Reset, fields: dict[str, Node], reading: Reading) -> None:
    if isinstance(built, CommandSettings):
        _prompted(built, fields["command"], reading)
    elif isinstance(built, PythonSettings):
        _object("endpoint", fields["endpoint"], reading)
    elif isinstance(built, HttpSettings | OpenAISettings):
        _url("agent.endpoint", fields["endpoint"], reading)
        if built.start is not None:
            _url("agent.start.ready_url", fields["start"].at(("ready_url",)), reading)
        if isinstance(built, HttpSettings) and built.request_template is not None:
            _template(built, fields["request_template"], reading)
    if built.reset_endpoint is not None and not built.reset_endpoint.startswith("/"):
        _url("agent.reset_endpoint", fields["reset_endpoint"], reading)
    if built.reset_function is not None:
        _object("reset_function", fields["reset_function"], reading)


def _prompted(built: CommandSettings, node: Node, reading: Reading) -> None:
    if not built.takes_prompt:
        message = "found no `{prompt}` in `agent.command`, expected a place for the prompt"
        reading.add(node, "no_prompt", message, "write `{prompt}` as an argument, or set `stdin: true`")


def _template(built: HttpSettings, node: Node, reading: Reading) -> None:
    if not _PLACE.search(built.request_template or ""):
        reading.warn(node, "found no `{prompt}` in `agent.request_template`: the agent never sees a prompt")


def _url(what: str, node: Node, reading: Reading) -> None:
    text = str(node.value)
    try:
        parts = urlsplit(text)
        fits = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        fits = False
    if not fits:
        expected = "a URL as in `http://localhost:8000/ask`"
        reading.add(node, "bad_value", f"found {shown(text)} for `{what}`, expected {expected}")


def _object(key: str, node: Node, reading: Reading) -> None:
    if not _OBJECT.fullmatch(str(node.value)):
        found = f"found {shown(node.value)} for `agent.{key}`, expected `module:name`"
        reading.add(node, "bad_value", found)


def _placed(built: Reset, folder: Path) -> Reset:
    """The settings with working directories that start from the file's folder."""
    if isinstance(built, CommandSettings | PythonSettings):
        return built.model_copy(update={"cwd": str(folder / (built.cwd or "."))})
    if isinstance(built, HttpSettings | OpenAISettings) and built.start is not None:
        start = built.start.model_copy(update={"cwd": str(folder / (built.start.cwd or "."))})
        return built.model_copy(update={"start": start})
    return built
