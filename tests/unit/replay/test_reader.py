from __future__ import annotations

import random
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest

from faultwire.errors import TapeError, TapeNotFound, TapeTampered
from faultwire.events import Request
from faultwire.replay.compare import compare, learn
from faultwire.replay.reader import Unverified, index, open_tape, redaction, tape_settings
from faultwire.replay.settings import ReplaySettings
from faultwire.tape.evidence.salvage import salvage
from faultwire.tape.read.metadata import SessionInfo
from faultwire.tape.read.reader import TapeReader
from faultwire.tape.record.writer import TapeWriter

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


@pytest.fixture
def cut(deck: Any, tmp_path: Path) -> Callable[[float], Path]:
    """A tape of six exchanges, of which only so much of the file is there."""
    for n in range(6):
        deck.add(chat(f"{n}" * 9000), answer(n))
    whole = deck.close().read_bytes()

    def made(left: float) -> Path:
        path = tmp_path / "cut.tape"
        path.write_bytes(whole[: int(len(whole) * left)])
        return path

    return made


def answer(n: int) -> bytes:
    return random.Random(n).randbytes(9000)


@pytest.mark.parametrize("left", [0.5, 0.95])
def test_a_tape_whose_end_is_gone_is_refused_with_what_is_lost_first(
    left: float, cut: Callable[[float], Path], tmp_path: Path
) -> None:
    path = cut(left)
    for refused in (lambda: open_tape(path), lambda: tape_settings(ReplaySettings(tape=path))):
        with pytest.raises(TapeTampered, match=r"cut off .* from event \d+ on") as caught:
            refused()
        assert "tape salvage" in (caught.value.hint or "")
        assert "--unverified" in (caught.value.hint or "")
    kept = salvage(path, tmp_path / "saved.tape").events
    assert f"from event {kept} on" in caught.value.message
    with open_tape(cut(1.0)) as reader:
        assert len(index(reader).entries) == 6


@pytest.mark.parametrize("size", [100, 4096, 8191])
def test_of_a_tape_cut_within_its_first_page_all_is_lost(size: int, cut: Callable[[float], Path]) -> None:
    path = cut(1.0)
    with path.open("r+b") as file:
        file.truncate(size)
    with pytest.raises(TapeTampered, match="cut off and not what was recorded from event 0 on: too little"):
        open_tape(path)


@pytest.mark.parametrize("left", [0.6, 0.8, 0.95])
def test_unverified_goes_on_with_what_can_be_read_of_it(left: float, cut: Callable[[float], Path]) -> None:
    path = cut(left)
    with pytest.raises((TapeError, AssertionError)), Unverified.open(path) as reader:
        all_as_recorded(reader)  # the file as it is answers nothing, or what nobody said
    assert tape_settings(ReplaySettings(tape=path, unverified=True))["made_by"] == "replay"
    with open_tape(path, unverified=True) as reader:
        assert reader.path == path
        assert 1 <= all_as_recorded(reader) < 6
    assert [one.name for one in path.parent.iterdir() if one.name.startswith(".")] == []


def all_as_recorded(reader: TapeReader) -> int:
    """How many exchanges answer, from the first on, all of them as they were recorded."""
    found = [entry.recorded for entry in index(reader).entries]
    for n, one in enumerate(found):
        assert (one.number, one.ending, one.request) == (n + 1, "complete", chat(f"{n}" * 9000))
        assert one.delivered is not None
        assert one.delivered.body == answer(n)
    return len(found)


@pytest.mark.parametrize("left", [0.01, 0.1, 0.3])
def test_a_tape_of_which_nothing_can_be_read_is_refused(left: float, cut: Callable[[float], Path]) -> None:
    path = cut(left)
    with pytest.raises(TapeTampered, match="is cut off, and no exchange on it can be read") as caught:
        open_tape(path, unverified=True)
    assert f"`{path}`" in caught.value.message


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


def test_calls_that_a_fault_sent_on_otherwise_are_not_the_same(deck: Any, tmp_path: Path) -> None:
    decks = [deck, *(type(deck)(tmp_path / f"{n}.tape") for n in range(3))]
    for one, sent in zip(decks, (None, chat("poison"), chat("poison"), chat("venom")), strict=True):
        one.add(chat("a"), b"{}", sent_on=sent)
        one.add(chat("b"), b"{}")
    readers = [TapeReader.open(one.close()) for one in decks]

    def compared(one: TapeReader, other: TapeReader) -> Any:
        return compare(index(one), other.exchanges(), (one.forwarded("exec"), other.forwarded("exec")))

    calm, poisoned, again, other = readers
    assert compared(poisoned, again).divergence is None
    for one, two in ((calm, poisoned), (poisoned, calm), (poisoned, other)):
        found = compared(one, two)
        assert found.same == 0
        assert found.divergence.kind == "other request sent on"
        assert [place.path for place in found.divergence.differences] == ["$.messages[0].content"]
        assert "changed it otherwise than exec#1" in found.divergence.reason
    for reader in readers:
        reader.close()


def test_what_only_the_first_tape_has(deck: Any, tmp_path: Any) -> None:
    deck.add(chat("a"), b"{}")
    deck.add(chat("b"), b"{}")
    other = type(deck)(tmp_path / "o.tape")
    other.add(chat("a"), b"{}")
    with TapeReader.open(deck.close()) as one, TapeReader.open(other.close()) as two:
        found = compare(index(one), two.exchanges())
    assert found.divergence is not None
    assert found.divergence.kind == "missing call"


def test_a_replay_redacts_by_its_own_rules_and_those_of_its_tape(tmp_path: Path) -> None:
    path = tmp_path / "r.tape"
    TapeWriter.create(path, origin="p/r", settings={"redact": {"pii": True}}).close()
    own = {"headers": ["x-a"]}
    assert redaction(ReplaySettings(tape=path), own) == {"pii": True, **own}
    assert redaction(None, own) == own


def test_a_session_s_answers_are_found_without_a_look_at_the_others(
    deck: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each invocation of a replayed contract opens a session: with a list of all of them each time, a
    thousand invocations took a million look-ups."""
    deck.add(chat("a"), b"{}")
    with open_tape(deck.close()) as tape:
        (name,) = (one.name for one in tape.sessions())
        assert tape.has(name)
        assert not tape.has("another")
        assert not tape.has("")

        def listed(_: TapeReader) -> tuple[SessionInfo, ...]:
            raise AssertionError("all sessions were listed")

        monkeypatch.setattr(TapeReader, "sessions", listed)
        index(tape, session=name)
        with pytest.raises(AssertionError, match="all sessions were listed"):
            index(tape, session="another")
