"""A HAR that mitmproxy wrote of an agent's traffic, changed in each way that a finding names."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable
from pathlib import Path
from typing import Any

from foreign_tapes import ENTRY, Case, bad, nothing


def entry(change: Callable[[Any], object], number: int = 0) -> Callable[[Path], object]:
    """One entry of the archive."""

    def changed(path: Path) -> None:
        document = json.loads(path.read_text())
        change(document["log"]["entries"][number])
        path.write_text(json.dumps(document))

    return changed


def log(**members: Any) -> Callable[[Path], object]:
    def changed(path: Path) -> None:
        document = json.loads(path.read_text())
        document["log"] = {**members, **{k: v for k, v in document["log"].items() if k not in members}}
        path.write_text(json.dumps(document))

    return changed


def many(path: Path) -> None:
    """More entries that cannot be read than findings are kept."""
    document = json.loads(path.read_text())
    document["log"]["entries"] += [{}] * 1100
    path.write_text(json.dumps(document))


def as_form(one: Any) -> None:
    one["request"]["postData"] = {
        "mimeType": "application/x-www-form-urlencoded", "params": [{"name": "a", "value": "b"}]
    }  # fmt: skip


HAR = "agent.har"
FRAME = {"type": "send", "opcode": 9, "data": "x", "time": 1}
ARCHIVES: dict[str, Case] = {
    "as mitmproxy wrote it": Case(HAR, nothing),
    "another version": bad(HAR, log(version="3.0"), "the log has version {}, expected 1.2"),
    "a file that breaks off": bad(
        HAR, lambda path: path.write_text(path.read_text().rstrip()[:-400]), "nothing more can be read: {}"
    ),
    "an entry without a request": bad(
        HAR, entry(lambda one: one.pop("request")), ENTRY, "it is left out: {}"
    ),
    "more findings than are kept": bad(HAR, many, ENTRY, "it is left out: {}"),
    "no instant": Case(HAR, entry(lambda one: one.update(startedDateTime="soon")), (ENTRY, "it began at {}")),
    "a status that is none": bad(
        HAR, entry(lambda one: one["response"].update(status=1000)), ENTRY, "the response has status {}"
    ),
    "a response that is no Base64": bad(
        HAR, entry(lambda one: one["response"]["content"].update(encoding="base64", text="%%")), ENTRY,
        "the response's body is no {}",
    ),
    "a response in Base64": Case(
        HAR,
        entry(lambda one: one["response"]["content"].update(
            encoding="base64", text=b64encode(one["response"]["content"]["text"].encode()).decode()
        )),
    ),
    "a request that is no Base64": bad(
        HAR, entry(lambda one: one["request"]["postData"].update(text="%%", encoding="base64")), ENTRY,
        "the request's body is no {}",
    ),
    "a body that is not in the file": Case(
        HAR, entry(lambda one: one["response"]["content"].pop("text")),
        (ENTRY, "a body of {} bytes is not in the file"),
    ),
    "a body of another size": Case(
        HAR, entry(lambda one: one["response"]["content"].update(size=7)),
        (ENTRY, "the file says that a body has {} bytes, and holds {}"),
    ),
    "a form": Case(HAR, entry(as_form), (ENTRY, "the request's body was put together from its fields")),
    "a frame of another kind": bad(
        HAR, entry(lambda one: one.update(_webSocketMessages=[FRAME])), ENTRY,
        "a WebSocket message is left out: {}",
    ),
}  # fmt: skip
