from __future__ import annotations

import sqlite3
from typing import Any

import orjson
import pytest

from faultwire.errors import TapeNotFound, TapeTampered
from faultwire.events import Request
from faultwire.replay.compare import compare, learn
from faultwire.replay.reader import index, open_tape
from faultwire.tape.read import TapeReader

JSON = (("content-type", "application/json"),)


def chat(text: str, **more: object) -> Request:
    body = {"model": "m", "messages": [{"role": "user", "content": text}], **more}
    return Request("POST", "https", "api.openai.com", 443, "/v1/chat/completions", JSON, orjson.dumps(body))


def test_a_tape_that_was_changed_is_refused_with_its_first_bad_event(deck: Any) -> None:
    deck.add(chat("a"), b"{}")
    path = deck.close()
    connection = sqlite3.connect(path)
    connection.execute("UPDATE events SET hash = zeroblob(32) WHERE seq = 3")
    connection.commit()
    connection.close()
    with pytest.raises(TapeTampered, match="from event 3 on") as caught:
        open_tape(path)
    assert "--unverified" in (caught.value.hint or "")
    with open_tape(path, unverified=True) as reader:
        assert len(index(reader).entries) == 1


def test_a_tape_that_is_not_there(tmp_path: Any) -> None:
    with pytest.raises(TapeNotFound):
        open_tape(tmp_path / "none.tape")


def test_opening_reads_no_answer(deck: Any) -> None:
    deck.add(chat("a"), b'{"answer":1}')
    path = deck.close()
    with open_tape(path) as reader:
        asked_for: list[str] = []
        read = reader._blob
        reader._body._fetch = lambda name: asked_for.append(name) or read(name)  # type: ignore[func-returns-value]
        found = index(reader)
        assert len(asked_for) == 1
        assert found.entries[0].recorded.delivered is not None
        assert found.entries[0].recorded.delivered.body == b'{"answer":1}'
        assert len(asked_for) == 2


def test_two_runs_side_by_side(deck: Any, tmp_path: Any) -> None:
    deck.add(chat("a"), b'{"x":1}')
    deck.add(chat("b", trace={"id": "one"}), b'{"x":2}')
    other = type(deck)(tmp_path / "o.tape")
    other.add(chat("a"), b'{"x":1}')
    other.add(chat("b", trace={"id": "two"}), b'{"x":3}')
    with TapeReader.open(deck.close()) as one, TapeReader.open(other.close()) as two:
        found = compare(index(one), two.exchanges())
        assert found.same == 1
        assert found.divergence is not None
        assert [place.path for place in found.divergence.differences] == ["$.trace.id"]
        (proposal,) = learn(index(one), two.exchanges())
        assert (proposal.mask, proposal.calls, proposal.recorded, proposal.asked, proposal.minted) == (
            "api.openai.com/v1/chat/completions $.trace.id",
            1,
            "one",
            "two",
            False,
        )
        masked = compare(index(one, (proposal.mask,)), two.exchanges())
        assert masked.divergence is not None
        assert masked.divergence.kind == "other answer"
        assert [place.path for place in masked.divergence.differences] == ["$.x"]
        assert compare(index(one), one.exchanges()).divergence is None
        assert learn(index(one), one.exchanges()) == []


def test_what_only_the_first_tape_has(deck: Any, tmp_path: Any) -> None:
    deck.add(chat("a"), b"{}")
    deck.add(chat("b"), b"{}")
    other = type(deck)(tmp_path / "o.tape")
    other.add(chat("a"), b"{}")
    with TapeReader.open(deck.close()) as one, TapeReader.open(other.close()) as two:
        found = compare(index(one), two.exchanges())
    assert found.divergence is not None
    assert found.divergence.kind == "missing call"
