from __future__ import annotations

import random
from dataclasses import replace
from hashlib import sha256
from typing import Any

import pytest

from faultwire.events import Request
from faultwire.replay.answer import Answer
from faultwire.replay.explain_miss import Divergence

JSON = (("content-type", "application/json"),)


def chat(text: str, **more: object) -> Request:
    import orjson

    body = {"model": "gpt-4o-mini", "messages": [{"role": "user", "content": text}], **more}
    return Request("POST", "https", "api.openai.com", 443, "/v1/chat/completions", JSON, orjson.dumps(body))


def said(found: Answer | Divergence) -> bytes:
    assert isinstance(found, Answer), found
    return b"".join(data for data, _ in found.chunks)


def missed(found: Answer | Divergence) -> Divergence:
    assert isinstance(found, Divergence), found
    return found


def test_the_same_call_gets_its_answers_in_order_and_then_none(deck: Any, play: Any) -> None:
    deck.add(chat("a"), b"r1")
    deck.add(chat("a"), b"r2")
    player = play()
    assert [said(player.play(chat("a"))) for _ in range(2)] == [b"r1", b"r2"]
    last = missed(player.play(chat("a")))
    assert (last.kind, last.reason) == ("new call", "it was called more often than recorded")
    report = player.report()
    assert (report["served"], report["missed"], report["left"]) == (2, 1, 0)


def test_reuse_gives_the_last_one_again(deck: Any, play: Any) -> None:
    deck.add(chat("a"), b"r1")
    deck.add(chat("a"), b"r2")
    player = play(reuse=True)
    assert [said(player.play(chat("a"))) for _ in range(4)] == [b"r1", b"r2", b"r2", b"r2"]


def test_order_between_calls_is_free(deck: Any, play: Any) -> None:
    for n in range(40):
        deck.add(chat(f"call {n}"), b"r%d" % n)
    player = play()
    shuffled = list(range(40))
    random.Random(5).shuffle(shuffled)
    assert [said(player.play(chat(f"call {n}"))) for n in shuffled] == [b"r%d" % n for n in shuffled]
    assert player.report()["left"] == 0


def test_strict_order_demands_the_recorded_one(deck: Any, play: Any) -> None:
    deck.add(chat("a"), b"r1")
    deck.add(chat("b"), b"r2")
    player = play(strict_order=True)
    early = missed(player.play(chat("b")))
    assert early.kind == "order"
    assert early.expected == "exec#1 POST https://api.openai.com/v1/chat/completions"
    assert said(player.play(chat("a"))) == b"r1"
    assert said(player.play(chat("b"))) == b"r2"


def test_what_nobody_asked_for_is_listed(deck: Any, play: Any) -> None:
    deck.add(chat("a"), b"r1")
    deck.add(chat("b"), b"r2")
    player = play()
    player.play(chat("b"))
    report = player.report()
    assert report["leftovers"] == ["exec#1 POST https://api.openai.com/v1/chat/completions"]
    assert report["classes"] == {"missing call": 1}


def test_what_a_fault_answers_is_not_missing(deck: Any, play: Any) -> None:
    deck.add(chat("a"), b"r1")
    deck.add(chat("a"), b"r2")
    player = play()
    player.pass_over(chat("a"))
    assert player.report()["leftovers"] == ["exec#2 POST https://api.openai.com/v1/chat/completions"]
    # Its server was never asked, so the same call again gets what it would have got.
    assert [said(player.play(chat("a"))) for _ in range(2)] == [b"r1", b"r2"]
    assert player.report()["left"] == 0


def test_what_a_fault_answers_has_its_turn_also_in_strict_order(deck: Any, play: Any) -> None:
    for text, answer in (("a", b"r1"), ("b", b"r2")):
        deck.add(chat(text), answer)
    player = play(strict_order=True)
    player.pass_over(chat("a"))
    assert [said(player.play(chat(text))) for text in ("b", "a")] == [b"r2", b"r1"]


def test_a_miss_goes_on_where_that_was_asked_for(deck: Any, play: Any) -> None:
    deck.add(chat("a"), b"r1")
    player = play(live=True)
    assert player.report()["unasked"] == {"exec": [1]}
    assert player.play(chat("b")) is None
    assert said(player.play(chat("a"))) == b"r1"
    assert player.report()["missed"] == 1
    assert player.report()["unasked"] == {}
    assert "unasked" not in play().report()


def test_a_run_that_adds_names_what_answered_and_what_was_left(deck: Any, play: Any) -> None:
    for text, answer in (("a", b"r1"), ("b", b"r2"), ("c", b"r3")):
        deck.add(chat(text), answer)
    player = play(live=True)
    player.pass_over(chat("a"), 1)  # a fault answered: the recorded answer is as new
    assert said(player.play(chat("b"), 2)) == b"r2"
    told = player.report()
    assert (told["unasked"], told["answered"]) == ({"exec": [1, 3]}, {"2": ["exec", 2]})
    early = play(live=True, strict_order=True)
    assert early.play(chat("c"), 1) is None  # out of turn it goes to its server, and is recorded anew
    assert early.report()["unasked"] == {"exec": [1, 2]}


WORDS = ("which", "rivers", "flow", "through", "the", "old", "town", "and", "where", "do", "they", "rise")


def test_an_altered_prompt_never_gets_a_recorded_answer(deck: Any, play: Any) -> None:
    for n in range(10):
        deck.add(chat(f"{n} {' '.join(WORDS)}", temperature=0.5), b"r%d" % n)
    player = play(rebind=True)
    chance = random.Random(11)
    for _ in range(700):
        n, at = chance.randrange(10), chance.randrange(len(WORDS))
        altered = [*WORDS]
        altered[at] = altered[at] + chance.choice("abcxyz")
        found = missed(player.play(chat(f"{n} {' '.join(altered)}", temperature=0.5)))
        assert found.kind == "changed prompt"
        assert [one.path for one in found.differences] == ["$.messages[0].content"]
        assert altered[at] in found.differences[0].asked
        assert WORDS[at] in found.differences[0].recorded
    assert player.report()["missed"] == 700
    assert [said(player.play(chat(f"{n} {' '.join(WORDS)}", temperature=0.5))) for n in range(10)] == [
        b"r%d" % n for n in range(10)
    ]


@pytest.mark.parametrize("rebind", [False, True])
def test_another_uuid_in_a_prompt_is_another_prompt(rebind: bool, deck: Any, play: Any) -> None:
    deck.add(chat("cancel 4f7c1a52-98f1-4c43-9d2c-0b1f8a6f2a11"), b"r1")
    player = play(rebind=rebind)
    found = missed(player.play(chat("cancel aaaaaaaa-98f1-4c43-9d2c-0b1f8a6f2a11")))
    assert found.kind == "volatile value"


SECRET = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCD"
OTHER = "sk-proj-ZYXWVUTSRQPONMLKJIHGFEDCBA9876543210zyxw"


def test_a_secret_in_a_body_is_the_same_secret_on_the_tape(deck: Any, play: Any) -> None:
    deck.add(chat(f"my key is {SECRET}"), b"r1")
    deck.add(chat(f"my key is {OTHER}"), b"r2")
    player = play()
    assert said(player.play(chat(f"my key is {OTHER}"))) == b"r2"
    assert said(player.play(chat(f"my key is {SECRET}"))) == b"r1"


def test_a_tape_of_another_project_replays_and_keeps_secrets_apart(deck: Any, play: Any) -> None:
    deck.add(chat(f"my key is {SECRET}"), b"r1")
    deck.add(chat(f"my key is {SECRET}, again"), b"r2")
    player = play(key=b"o" * 32)
    assert said(player.play(chat(f"my key is {SECRET}"))) == b"r1"
    # The tape's one secret is ours by now; another one of ours cannot be it as well.
    missed(player.play(chat(f"my key is {OTHER}, again")))
    assert said(player.play(chat(f"my key is {SECRET}, again"))) == b"r2"


def test_no_report_holds_a_secret(deck: Any, play: Any) -> None:
    deck.add(chat("my key is short"), b"r1")
    player = play()
    found = missed(player.play(chat(f"my key is {SECRET}")))
    assert SECRET.encode() not in (found.answer().body or b"")
    assert SECRET not in str(player.report())


def test_masks_let_places_differ(deck: Any, play: Any) -> None:
    deck.add(chat("a", trace={"run": 1}), b"r1")
    deck.add(chat("b", trace={"run": 1}), b"r2")
    player = play("api.openai.com/v1/* $.trace.run")
    assert said(player.play(chat("a", trace={"run": 2}))) == b"r1"
    missed(player.play(chat("c", trace={"run": 1})))


def test_a_recorded_529_comes_back_with_its_headers(deck: Any, play: Any) -> None:
    headers = (*JSON, ("retry-after", "7"))
    deck.add(chat("a"), b'{"type":"error"}', headers=headers, status=529)
    deck.add(chat("a"), b"ok")
    player = play()
    first = player.play(chat("a"))
    assert (first.status, first.headers, said(first)) == (529, headers, b'{"type":"error"}')
    assert said(player.play(chat("a"))) == b"ok"


def test_a_broken_answer_breaks_again(deck: Any, play: Any) -> None:
    deck.add(chat("a"), b"half", ending="upstream_aborted")
    assert play().play(chat("a")).ends == "aborted"


def test_only_a_request_that_is_the_recorded_one_is_taken_unread(deck: Any, play: Any) -> None:
    deck.add(chat("a"), b"r1")
    deck.add(chat(f"my key is {SECRET}"), b"r2")
    player = play(rebind=True)
    index = player._index

    def unread(request: Request) -> bool:
        return index.ask_again(request, sha256(request.body or b"").digest()) is not None

    assert unread(chat("a"))
    assert not unread(chat("b"))
    assert not unread(chat(f"my key is {SECRET}"))
    assert not unread(replace(chat("a"), path="/v1/chat/completions?x=1"))
    assert not unread(replace(chat("a"), headers=(*JSON, ("x-amz-target", "Other"))))
    assert not unread(replace(chat("a"), port=444))
    # However it was found, an answer is given once.
    assert said(player.play(chat("a"))) == b"r1"
    assert missed(player.play(chat("a"))).reason == "it was called more often than recorded"
    assert said(player.play(chat(f"my key is {SECRET}"))) == b"r2"
