"""The core's search, held to a fixed sample of bodies: what is replaced, by what, counted how, moved whereto.

Covers faultwire.tape.redact.search.
"""

from __future__ import annotations

import json
from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest

from faultwire import _core
from faultwire.tape.redact.redactor import Redactor
from faultwire.tape.redact.search import search
from faultwire.tape.redact.stream import last_edits, open_from, texts_by_member
from faultwire.tape.redact.text import edits

VECTORS = json.loads(Path("tests/vectors/redaction.json").read_text("utf-8"))
BODIES: list[dict[str, Any]] = VECTORS["bodies"]
KEY = "sk-ant-api03-AAAAAAAAAAAAAAAAAAAAAAAA"


@pytest.mark.parametrize("number", range(len(BODIES)))
def test_a_body_of_the_sample_is_redacted_to_the_byte(number: int) -> None:
    one = BODIES[number]
    text = one["body"]
    counts: dict[str, int] = {}
    assert [list(edit) for edit in edits(text)] == one["edits"]
    found = last_edits(text)
    assert [list(edit) for edit in found] == one["stream"]
    out, moves = Redactor(VECTORS["key"].encode()).apply(text.encode("latin-1"), found, counts)
    assert out.decode("latin-1") == one["redacted"]
    assert [list(move) for move in moves] == one["moves"]
    assert counts == one["counts"]
    assert open_from(text, texts_by_member(text)) == one["open_from"]


def test_the_sample_holds_secrets_of_many_classes_and_in_pieces() -> None:
    classes = {edit[2] for one in BODIES for edit in one["stream"]}
    assert None in classes, "a secret over several events"
    assert len(classes) > 15


def test_protocols_say_which_members_carry_text() -> None:
    assert search().texts('data: {"partial_json": "a"}\n\n') == [("partial_json", "a")]
    assert search() is search()


def test_what_the_layer_below_raises_is_raised_after_the_search() -> None:
    def broken(data: bytes) -> tuple[list[str], str | None, bool]:
        raise OSError("no reading")

    found = _core.SecretSearch(broken, lambda data: iter(()), lambda data, at: (b"", at, True), [])
    with pytest.raises(OSError, match="no reading"):
        found.edits(b64encode(f"it is {KEY}".encode()).decode(), 0, "all")
    assert found.edits("nothing", 0, "all") == []
    with pytest.raises(ValueError, match="known `some`, expected `all`, `shaped` or `none`"):
        found.edits("nothing", 0, "some")
