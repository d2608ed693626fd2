from dataclasses import fields
from pathlib import Path

from tests.unit.report.hostile import EVERY, INVALID
from tests.unit.workbench.conftest import JSON, Deck, answered, asked

from faultwire.events import Delivery, Recorded
from faultwire.tape.read.reader import TapeReader
from faultwire.workbench.exchange_view import exchange_view, sections


def view_of(path: Path, number: int):
    with TapeReader.open(path) as reader:
        detail = reader.detail("s", number)
        return exchange_view(detail.recorded, detail.recorded.started_ms, detail.forwarded, detail.redactions)


def test_the_four_parts_of_a_cut_stream(tape: Path) -> None:
    view = view_of(tape, 4)
    text = str(sections(view, "e4"))
    assert [f'id="e4-{part}"' in text for part in ("conversation", "events", "wire", "ledger")] == [True] * 4
    assert "the server sent 2 events, the agent got 1" in text
    assert "never came" in text
    assert "cut after event 1" in text


def test_an_answer_that_is_no_stream_has_no_events(tape: Path) -> None:
    view = view_of(tape, 1)
    assert view["events"] is None
    assert 'data-part="events"' not in sections(view, "e1")
    assert "no fault looked at this exchange" in sections(view, "e1")


def test_an_untouched_stream_is_not_said_to_miss_anything(deck: Deck) -> None:
    from tests.unit.workbench.conftest import SSE, event

    deck.exchange(asked(stream=True), event("a") + event("b"), headers=SSE)
    text = sections(view_of(deck.close(), 1), "e1")
    assert "the server sent 2 events, the agent got 2" in text
    assert "never came" not in text


def test_hostile_text_is_inert_in_every_part(deck: Deck) -> None:
    for text in EVERY:
        deck.exchange(asked(text), answered(text))
    deck.exchange(asked("bytes"), INVALID)
    path = deck.close()
    for number in range(1, deck.count + 1):
        made = sections(view_of(path, number), "e")
        assert "<script" not in made
        assert "<img" not in made
        assert not set(made) & set("\x1b\x9b\u202e\u2066\u200b\x00\x07")


def test_a_secret_that_is_on_a_tape_is_not_shown_in_a_conversation(deck: Deck) -> None:
    """A tape of somebody else may hold what ours would not."""
    key = "sk-proj-" + "a1B2c3D4e5F6g7H8" * 3
    deck.exchange()
    with TapeReader.open(deck.close()) as reader:
        (recorded,) = reader.exchanges()
    got = Delivery(200, "OK", JSON, answered(f"the key is {key}"))
    leaked = Recorded(
        **{
            **{field.name: getattr(recorded, field.name) for field in fields(Recorded)},
            "upstream": got,
            "delivered": got,
        }
    )
    view = exchange_view(leaked, leaked.started_ms)
    assert key not in str(view["conversation"])
    assert "the key is redacted:v1:" in str(view["conversation"])


def test_of_streams_that_differ_too_much_no_event_is_called_lost(deck: Deck, monkeypatch) -> None:
    from faultwire.report import stream_pairs

    monkeypatch.setattr(stream_pairs, "COMPARED", 0)
    deck.cut()
    text = sections(view_of(deck.close(), 1), "e1")
    assert "never came" not in text
    assert "too many events differ" in text
