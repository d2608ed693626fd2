"""faultwire.cli._determinism: two runs of one command, by their tapes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest

from faultwire.cli._determinism import ADVICE, WITHIN, Played, compared, lines, verdict
from faultwire.events import Exchange, FaultFired, Request, Response
from faultwire.tape.record.writer import TapeWriter

OK = Response(200, "", (("content-type", "application/json"),))
Make = Callable[..., Played]


def chat(text: str) -> Request:
    body = orjson.dumps({"model": "m", "messages": [{"role": "user", "content": text}]})
    head = (("content-type", "application/json"),)
    return Request("POST", "https", "api.openai.com", 443, "/v1/chat/completions", head, body)


def fault(effect: str) -> FaultFired:
    return FaultFired("garbage", "garbage", "response", "fired", "call 1 matches", "k", 0, 0, effect=effect)


@pytest.fixture
def run(tmp_path: Path) -> Make:
    """A run that asked these questions: each a text, or a text with an answer and the fault that it met."""
    made = iter(range(100))

    def ran(*asked: str | tuple[str, bytes, str], ledger: str = "l", code: int = 0) -> Played:
        path = tmp_path / f"{next(made)}.tape"
        writer = TapeWriter.create(path, origin="p/t", settings={}, key=b"k" * 32)
        writer.open_session("exec", profile="", profile_digest="", seed=1, agent="")
        for number, question in enumerate(asked, 1):
            text, answer, effect = (question, b"{}", "") if isinstance(question, str) else question
            request = chat(text)
            recording = writer.record(Exchange("exec", number, request, kind="llm"))
            recording.request(request)
            recording.upstream_head(OK)
            recording.upstream_chunk(answer)
            recording.end("complete", None, (fault(effect),) if effect else ())
        writer.close_session("exec")
        writer.close()
        return Played(path, ledger, code)

    return ran


def test_runs_that_asked_the_same_are_the_same(run: Make) -> None:
    found = compared(run("a", "b"), run("a", "b"), (), any_order=False)
    assert (found.same, found.difference, found.reordered) == (2, None, 0)
    told = ["determinism: same: 2 runs with seed 7 made the same 2 calls and had the same faults"]
    assert list(lines(found, 2, 7)) == told
    assert "the same 1 call and" in next(lines(replace(found, same=1), 2, 7))


def test_the_first_differing_call_is_shown_with_what_helps(run: Make) -> None:
    found = compared(run("a", "at 06:10:17"), run("a", "at 06:10:18"), (), any_order=False)
    assert found.difference is not None
    assert (found.same, found.difference.cause, found.difference.call) == (1, "clock", 2)
    first, where, *places, advice = lines(found, 2, 7)
    assert first == "determinism: different: clock"
    assert where.startswith(
        "  call 2: POST https://api.openai.com/v1/chat/completions: it differs from exec#2"
    )
    assert places == ["    $.messages[0].content", "      - at 06:10:17", "      + at 06:10:18"]
    assert advice == f"  {ADVICE['clock']}"


@pytest.mark.parametrize(
    ("one", "other", "cause", "call", "where"),
    [
        (("a", "b", "c"), ("a", "c", "b"), "order", 2, "it was called before an earlier recorded call"),
        (("a", "b", "at 06:10:17"), ("a", "b", "at 06:10:18"), "clock", 3, "`$.messages[0].content`"),
        (("a", "pick 0.5488"), ("a", "pick 0.7151"), "random value", 2, "`$.messages[0].content`"),
        (("a", ("b", b'{"x":1}', "")), ("a", ("b", b'{"x":2}', "")), "model answer", 2, "`$.x`"),
        (("about cats", "b"), ("about dogs", "b"), "code", 1, "`$.messages[0].content`"),
    ],
)
def test_each_cause_is_named_with_its_call(
    one: tuple[Any, ...], other: tuple[Any, ...], cause: str, call: int, where: str, run: Make
) -> None:
    found = compared(run(*one), run(*other), (), any_order=False)
    assert found.difference is not None
    assert (found.difference.cause, found.difference.call) == (cause, call)
    verdict_line, place, *_, advice = lines(found, 2, 7)
    assert verdict_line == f"determinism: different: {cause}"
    assert place.startswith(f"  call {call}: POST https://api.openai.com/v1/chat/completions: ")
    assert where in place, place
    assert advice == f"  {ADVICE[found.difference.cause]}"
    assert compared(run(*one), run(*one), (), any_order=False).difference is None, "the control"


def test_a_mask_leaves_a_place_out(run: Make) -> None:
    one, other = run("at 06:10:17"), run("at 06:10:18")
    assert compared(one, other, ("$.messages.*.content",), any_order=False).difference is None
    assert compared(one, other, (), any_order=False).difference is not None


def test_another_order_is_a_difference_unless_it_is_accepted(run: Make) -> None:
    one, other = run("a", "b", "c"), run("a", "c", "b")
    found = compared(one, other, (), any_order=False)
    assert found.difference is not None
    assert (found.difference.cause, found.difference.call) == ("order", 2)
    accepted = compared(one, other, (), any_order=True)
    assert (accepted.difference, accepted.same, accepted.reordered) == (None, 3, 2)
    assert list(lines(accepted, 2, 7))[1] == "  from call 2 on, calls came in another order"


def test_an_order_that_changed_before_the_first_difference_is_reported(run: Make) -> None:
    found = compared(run("a", "b", "said: a, b"), run("b", "a", "said: b, a"), (), any_order=True)
    assert found.difference is not None
    assert (found.difference.cause, found.difference.call, found.reordered) == (WITHIN, 3, 1)
    assert "  from call 1 on, calls came in another order" in lines(found, 2, 7)


@pytest.mark.parametrize("any_order", [False, True])
def test_one_call_whose_values_changed_places_is_in_no_other_order(run: Make, any_order: bool) -> None:
    found = compared(run("red, green"), run("green, red"), (), any_order=any_order)
    assert found.difference is not None
    assert (found.difference.cause, found.difference.call, found.reordered) == (WITHIN, 1, 0)
    first, *_, advice = lines(found, 2, 7)
    assert first == "determinism: different: order within a call"
    assert advice == f"  {ADVICE[WITHIN]}"
    assert ADVICE["order"] not in " ".join(lines(found, 2, 7))


def test_another_answer_is_the_models_or_a_faults(run: Make) -> None:
    calm, other = ("a", b'{"x":1}', ""), ("a", b'{"x":2}', "")
    found = compared(run(calm), run(other), (), any_order=False).difference
    assert found is not None
    assert found.cause == "model answer"
    found = compared(run(calm), run(("a", b'{"x":2}', "garbage")), (), any_order=False).difference
    assert found is not None
    assert found.cause == "fault"


def test_a_call_that_only_one_run_has(run: Make) -> None:
    missing = compared(run("a", "b"), run("a"), (), any_order=False)
    assert missing.difference is not None
    assert (missing.difference.cause, missing.difference.call) == ("code", 0)
    assert list(lines(missing, 2, 7))[1].startswith("  a call is missing: POST ")
    more = compared(run("a"), run("a", "b"), (), any_order=False).difference
    assert more is not None
    assert more.call == 2


def test_other_faults_and_another_exit_code_are_differences(run: Make) -> None:
    found = compared(run("a"), run("a", ledger="m"), (), any_order=False)
    assert found.difference is not None
    assert found.difference.cause == "fault"
    assert list(lines(found, 2, 7))[1] == "  the same calls had other faults"
    ended = compared(run("a"), run("a", code=7), (), any_order=False).difference
    assert ended is not None
    assert ended.reason == "the command exited 0 and then 7 after the same calls"
    assert compared(run("a", code=7), run("a", code=7), (), any_order=False).difference is None


@pytest.mark.parametrize("hit", ["a", "b"])
def test_in_another_order_the_same_call_must_have_the_same_fault(hit: str, run: Make) -> None:
    """A trigger that counts calls hits another one then, and the hash of the ledger is the same."""
    one = run(("a", b"{}", "delayed by 1 ms"), "b")
    other = run(*reversed([(text, b"{}", "delayed by 1 ms" if text == hit else "") for text in ("a", "b")]))
    found = compared(one, other, (), any_order=True)
    assert found.reordered == 1
    if hit == "a":
        assert found.difference is None
    else:
        assert found.difference is not None
        assert found.difference.cause == "fault"
        assert list(lines(found, 2, 7))[1:3] == [
            "  the same calls had other faults",
            "  from call 1 on, calls came in another order",
        ]


def test_of_several_runs_the_first_that_differs_counts(run: Make) -> None:
    played = [run("a"), run("a"), run("b"), run("c")]
    found = verdict(played, (), any_order=False)
    assert found.difference is not None
    assert found.difference.divergence is not None
    assert found.difference.divergence.differences[0].asked == "b"
    assert verdict(played[:2], (), any_order=False).difference is None
