"""Breakpoints from the command line: set and held by one command, decided on by others."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from faultwire import clock
from faultwire.cli import _controlled as controlled
from faultwire.errors import UsageError
from faultwire.text import safe

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from faultwire.mitm.engine.control_client import ControlClient

POLL_S = 0.1
ENGINES = ("proxy", "exec", "run", "ci")
"""Commands whose traffic can be held."""


def announced(
    client: ControlClient, ident: str, stopped: Callable[[], bool], say: Callable[[str], None]
) -> str:
    """Hold a breakpoint until it is over or we are stopped, and say what it holds; why it ended."""
    seen: set[str] = set()
    while not stopped():
        now = controlled.ask(client, op="held")
        for held in now["held"]:
            if held["breakpoint"] == ident and held["id"] not in seen:
                seen.add(held["id"])
                say(line(held))
        mine = next((one for one in now["interventions"] if one["id"] == ident), None)
        if mine is None or mine["state"] == "disarmed":
            return "it was forgotten" if mine is None else str(mine["why"])
        clock.pause(POLL_S)
    return str(controlled.ask(client, op="disarm", id=ident, why="its controller was stopped")["why"])


def line(held: Mapping[str, Any]) -> str:
    """What is held, in a line."""
    about = held["model"] or held["tool"] or held["kind"]
    left = held["client_left_s"]
    waits = (
        "" if left is None else f"; its client waits {max(0.0, left):.0f} s longer ({held['client_says']})"
    )
    place = held["at"].replace("_", " ")
    return safe(
        f"{held['id']} held at the {place}: exchange {held['number']} of {held['session']}, {about}{waits}"
    )


def decision(do: str, given: Mapping[str, Any], shown: Mapping[str, Any]) -> dict[str, Any]:
    """The message for a decision. Raises UsageError."""
    message: dict[str, Any] = {"op": "decide", "do": do}
    raw: Path | str | None = given.get("raw")
    if raw is not None:
        message["raw"] = raw if isinstance(raw, str) else _read(raw)
    members = dict(map(_member, given.get("members") or ()))
    if members or given.get("arguments") is not None:
        call = {"at": given.get("call") or 0, "members": members}
        message["calls"] = [call if given["arguments"] is None else {**call, "arguments": given["arguments"]}]
    if given.get("text") is not None:
        message |= _text(given["text"], given.get("place") or 0, shown)
    if given.get("status") is not None:
        message["status"] = given["status"]
    if given.get("headers"):
        message["headers"] = list(given["headers"].items())
    return message


def _text(text: str, place: int, shown: Mapping[str, Any]) -> dict[str, Any]:
    if "results" in shown or "texts" in shown:
        return {"texts": {str(place): text}}
    return {"text": text}


def _member(text: str) -> tuple[str, Any]:
    """`NAME=VALUE`: JSON where it is, else a text."""
    name, equals, value = text.partition("=")
    if not (name and equals):
        raise UsageError(f"found `{text}`, expected `NAME=VALUE`", code="usage.argument")
    try:
        return name, json.loads(value)
    except (ValueError, RecursionError):
        return name, value


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read `{path}`: {error}", code="usage.file") from error
