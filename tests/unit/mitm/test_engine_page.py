"""`docs/explanation/engine.md` says what the engine does: its refusals, its limits, its parts."""

from __future__ import annotations

import inspect
import re
import shlex
from functools import cache
from pathlib import Path

import pytest

from faultwire import child_process
from faultwire.mitm.compat import heads, http1, http2
from faultwire.mitm.engine import spreader
from faultwire.mitm.messages import error_responses
from faultwire.mitm.settings import EngineSettings

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "explanation" / "engine.md").read_text()
MITM = ROOT / "proxy" / "faultwire" / "mitm"


def rows(title: str) -> list[list[str]]:
    """The cells of the table under these column titles."""
    table = PAGE.partition(title)[2].partition("\n\n")[0]
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines()[2:]]


@cache
def refusals() -> set[tuple[int, str]]:
    """Status and type of every refusal in the code."""
    modules = (error_responses, http1, http2)
    source = "\n".join(inspect.getsource(module) for module in modules)
    called = re.findall(r'(?:Refusal|_refuse)\(\s*(\d{3}),[^)]*?"(faultwire_\w+)"', source)
    turned_away = inspect.getsource(spreader.Spreader._turn_away)
    kind, status = re.search(r'"(faultwire_\w+)"', turned_away), re.search(r"HTTP/1\.1 (\d{3})", turned_away)
    assert kind is not None
    assert status is not None
    return {(int(code), name) for code, name in [*called, (status[1], kind[1])]}


def test_every_refusal_is_on_the_page() -> None:
    told = {
        (int(status), kind)
        for status, kinds, _ in rows("| status | type | when |")
        for kind in re.findall(r"faultwire_\w+", kinds)
    }
    assert told == refusals()
    assert len(told) == 16


def test_refusals_are_json() -> None:
    for line in ('`{"error": {"message": …, "type": …}}`', "Every refusal is JSON"):
        assert line in PAGE
    body = error_responses.draining().response().body
    assert body == b'{"error": {"message": "faultwire is stopping", "type": "faultwire_stopping"}}'


def test_the_limits_are_those_of_the_code(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("FAULTWIRE_FIRST_BYTE_S", "FAULTWIRE_IDLE_BODY_S"):
        monkeypatch.delenv(name, raising=False)
    usual = {
        name: field.get_default(call_default_factory=True)
        for name, field in EngineSettings.model_fields.items()
    }
    told = {
        limit: (default, by) for limit, default, by, _ in rows("| limit | default | set by | beyond it |")
    }
    assert (
        told["first byte of a request head, or of a TLS handshake, to its end"][0]
        == f"{usual['head_timeout_s']:g} s"
    )
    assert told["a head, either direction"][0] == f"{heads.HEAD_LIMIT // 1024} KiB"
    assert told["trailers, or the line before a chunk"][0] == f"{heads.HEAD_LIMIT // 1024} KiB"
    first = told["the whole request to the first byte of the response"]
    assert first == (f"{usual['first_byte_s']:g} s", "`FAULTWIRE_FIRST_BYTE_S`")
    assert told["between two pieces of a response"] == (
        f"{usual['idle_body_s']:g} s",
        "`FAULTWIRE_IDLE_BODY_S`",
    )
    assert told["exchanges at once"][0] == str(usual["max_exchanges"])
    monkeypatch.setenv("FAULTWIRE_FIRST_BYTE_S", "7")
    assert EngineSettings.model_fields["first_byte_s"].get_default(call_default_factory=True) == 7


def test_the_process_is_started_as_it_says(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[list[str]] = []
    monkeypatch.setattr(child_process, "spawn", lambda command, *_: started.append(list(command)))
    child_process.start("faultwire.mitm", (), None, {}, asserts=False)
    told = re.search(r"\(`python (.*?)`\)", PAGE)
    assert told is not None
    words = [word.rpartition("/")[2] for word in started[0][1:]]
    assert words == [word.rpartition("/")[2] for word in shlex.split(told[1])]


def test_the_parts_are_where_it_says() -> None:
    places = PAGE.partition("## Where things are")[2].partition("\n## ")[0]
    folders = set(re.findall(r"`(\w+)/`", places))
    assert folders == {"engine", "native", "flow", "network", "compat"}
    assert all((MITM / name).is_dir() for name in folders)
    stock = PAGE.partition("## In a stock mitmdump")[2]
    addons = re.findall(r"`(addons/\w+\.py)`", stock)
    assert sorted(addons) == sorted(
        str(path.relative_to(ROOT)) for path in (ROOT / "addons").glob("[a-z]*.py")
    )
