import base64
from dataclasses import replace

from faultwire.checks.information_flow import InformationFlow

WORD = "CANARY-IBAN-7431"
CHECK = InformationFlow(
    canaries=(WORD,),
    may_learn={
        "billing": {"instructions": "You are billing*"},
        "ledger": {"url": "http://tools.test/ledger"},
    },
)
NOBODY = InformationFlow(canaries=(WORD,), may_learn={"ledger": {"url": "http://tools.test/ledger"}})


def context(wire, number, text, system="You are billing."):
    return wire.talk(number, [{"role": "system", "content": system}, wire.user(text)])


def test_those_who_may_learn_it(verdict, wire):
    known = [
        context(wire, 1, WORD),
        wire.used(2, "ledger", {"iban": WORD}),
        context(wire, 3, "hi", "You plan."),
    ]
    found = verdict(CHECK, known)
    assert (found.verdict, found.exchanges) == ("pass", (1, 2))
    assert found.explanation == "2 requests with a canary, each to or from one who may learn it"
    assert verdict(CHECK.model_copy(update={"negate": True}), known).verdict == "fail"


def test_another_agents_context(verdict, wire):
    found = verdict(CHECK, [context(wire, 1, WORD), context(wire, 2, f"x {WORD.lower()}", "You plan.")])
    assert (found.verdict, found.exchanges) == ("fail", (2,))
    assert found.explanation == "an agent that is none of `billing, ledger` learned a canary"


def test_another_address_also_where_it_is_encoded(verdict, wire):
    for body in (WORD, base64.b64encode(WORD.encode()).decode()):
        found = verdict(CHECK, [wire.used(1, "search", {"q": body})])
        assert (found.verdict, found.explanation) == (
            "fail",
            "whoever is at `tools.test/search` learned a canary",
        )


def test_the_canary_is_not_repeated_by_the_explanation(verdict, wire):
    assert WORD not in verdict(CHECK, [wire.used(1, path=f"/x/{WORD}")]).explanation


def test_without_marks_nobody_is_accused_of_a_context(verdict, wire):
    found = verdict(NOBODY, [context(wire, 1, WORD)])
    assert found.verdict == "unknown"
    assert found.explanation == "whose context holds a canary is unknown: nobody's marks are in `may_learn`"
    assert verdict(NOBODY, [context(wire, 1, WORD), wire.used(2, "search", {"q": WORD})]).exchanges == (2,)


def test_a_canary_that_was_never_seen_proves_nothing(verdict, wire):
    found = verdict(CHECK, [context(wire, 1, "hello")])
    assert (found.verdict, found.explanation) == ("unknown", "no canary was seen, so nobody could learn one")
    assert verdict(CHECK, [wire.used(1, text=f'{{"iban": "{WORD}"}}')]).verdict == "pass", (
        "it could have spread"
    )


def test_the_answer_only_where_it_must_not(verdict, wire):
    exchanges = [context(wire, 1, WORD)]
    assert verdict(CHECK, exchanges, f"It is {WORD}.").verdict == "pass"
    strict = CHECK.model_copy(update={"in_answer": False})
    assert verdict(strict, exchanges, f"It is {WORD}.").explanation == "the answer holds a canary"
    assert verdict(strict, exchanges).verdict == "pass"


def test_what_cannot_be_read_is_unknown(verdict, wire):
    odd = wire.used(2, headers=(("content-encoding", "gzip"),))
    found = verdict(CHECK, [context(wire, 1, WORD), odd])
    assert found.verdict == "unknown"
    assert found.explanation.startswith("1 request cannot be read: ")


def test_a_provider_that_counts_tokens_is_no_stranger(verdict, wire):
    """CrewAI sends each conversation to be counted first."""
    counted = wire.used(2, kind="other", tool=None, host="api.openai.com", path="/v1/responses/input_tokens",
                        arguments={"input": WORD})  # fmt: skip
    asked = replace(
        context(wire, 3, WORD), request=replace(context(wire, 3, WORD).request, scheme="http", port=80)
    )
    assert verdict(CHECK, [counted, asked]).verdict == "pass"
    elsewhere = replace(counted, request=replace(counted.request, host="logs.test"))
    assert verdict(CHECK, [elsewhere, asked]).exchanges == (2,)
