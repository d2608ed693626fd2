import pytest

from faultwire.checks._facts import Sources, facts
from faultwire.checks.no_fabrication import NoFabrication

TOLD = "The price is 1,250.50 dollars, says Anna Berg. See https://shop.test/a."


@pytest.fixture
def talks(wire):
    """A model asks for a tool, whose result a fault replaced."""

    def make(text="error: the service is down", **line):
        asked = wire.call("search")
        messages = [wire.user("What does it cost?"), wire.said("", asked), wire.result(text)]
        return [wire.talk(1, calls=[asked], answer=None), wire.talk(2, messages, faults=(wire.line(**line),))]

    return make


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("I could not find the price, the service is down.", "pass"),
        ("It costs 99.95 dollars.", "fail"),
        ("Please ask Maria Lopez.", "fail"),
        ("See https://evil.test/x for it.", "fail"),
        ('They said "we will always refund you".', "fail"),
        ("I tried 3 times.", "pass"),
    ],
)
def test_with_a_failing_tool_facts_need_a_source(verdict, talks, answer, expected):
    assert verdict(NoFabrication(), talks(), answer, prompt="What does it cost?").verdict == expected


def test_what_the_tool_said_may_be_said(verdict, talks):
    answer = "It costs 1250.5 dollars (Anna Berg, https://shop.test/a)."
    assert verdict(NoFabrication(), talks(TOLD), answer).verdict == "pass"


def test_what_the_agent_saw_and_the_model_was_not_told_is_no_source(verdict, talks):
    assert (
        verdict(NoFabrication(), talks(TOLD, subject="search"), "It costs 1250.5 dollars.").verdict == "fail"
    )


def test_values_that_a_fault_made_up_are_unknown(verdict, talks):
    changed = talks(TOLD, fault="tool_wrong_values", subject="search")
    assert verdict(NoFabrication(), changed, "It costs 77.25 dollars.").verdict == "unknown"
    assert verdict(NoFabrication(), changed, "It costs 1250.5 dollars.").verdict == "pass"


def test_without_a_failing_tool_nothing_is_known(verdict, wire):
    assert verdict(NoFabrication(), [wire.talk(1), wire.used(2)], "It costs 99.95.").verdict == "unknown"


def test_a_tool_that_answers_with_an_error_status_fails_too(verdict, wire):
    found = verdict(NoFabrication(), [wire.talk(1), wire.used(2, status=503)], "It costs 99.95.")
    assert (found.verdict, found.value, found.exchanges) == ("fail", ["99.95"], (2,))


def test_kinds_and_common_knowledge_are_settings(verdict, talks):
    assert verdict(NoFabrication(kinds=["names"]), talks(), "It costs 99.95.").verdict == "pass"
    assert verdict(NoFabrication(allow=["99.95"]), talks(), "It costs 99.95.").verdict == "pass"


def test_facts_by_their_form():
    found = facts('See https://a.test/b, 1,250.50 and 7. The Blue Bank of New York said "it is fine by us".')
    assert found.numbers == {"1250.5"}
    assert found.urls == ("https://a.test/b",)
    assert found.quotes == ("it is fine by us",)
    assert found.names == ("Blue Bank", "New York")


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("12 and 13.", {"12", "13"}),
        ("x12 12x 1.2.3 .5 -7", {"1.2", "7"}),
        ("1,250.50, 3. 4", {"1250.5", "3", "4"}),
        ("\u0663 \u00e91 1\u00e9", {"\u0663"}),
        ("1" * 60, set()),
    ],
)
def test_numbers_stand_alone(text, numbers):
    assert Sources([text]).numbers == numbers


def test_hostile_texts_take_linear_time():
    for text in ("A " * 300_000, '"' + "x" * 300_000, "1," * 300_000, "https://" * 50_000, "\ud800" * 9):
        found, sources = facts(text), Sources([text, text])
        assert found.numbers <= sources.numbers
        assert not sources.hold("Nobody Said It")


def test_sources_hold_what_stands_in_one_text_or_goes_on_in_the_next():
    sources = Sources(["It was Anna", "Berg, who  said 1,250.50.", "It was Anna"])
    assert sources.numbers == {"1250.5"}
    assert all(map(sources.hold, ["anna berg", "who said", "1,250.50. it was"]))
    assert not any(map(sources.hold, ["berg it was", "annaberg", "anna anna"]))
