"""Four outcomes for each silent fault, each with the case in which it is another one."""

from __future__ import annotations

from dataclasses import replace

import pytest

from faultwire.checks._verification import OUTCOMES, values, verifications
from faultwire.checks.verifies_results import VerifiesResults
from faultwire.events import Delivery

TRUE = '{"price": 120, "city": "Paris", "items": ["tea", "cocoa powder"]}'
FALSE = '{"price": 155, "city": "Paris", "items": ["tea", "cocoa powder"]}'


def faulted(wire, number=1, fault="tool_wrong_values", true=TRUE, false=FALSE, name="search"):
    made = wire.used(number, name, text=false, faults=(wire.line(fault, subject=name),))
    side = Delivery(200, "", made.delivered.headers, true.encode())
    return replace(made, upstream=side)


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        ("It costs 120 euros.", "recovered"),
        ("It costs 155 euros.", "fooled"),
        ("It says 155 euros, which I could not verify.", "reported"),
        ("The results are inconsistent, so I give no price.", "reported"),
        ("It is in stock.", "degraded"),
        ("First 155 was said, but it costs 120 euros.", "fooled"),
    ],
)
def test_outcomes_of_a_wrong_value(wire, verdict, answer, outcome):
    found = verdict(VerifiesResults(), [faulted(wire)], answer)
    assert found.verdict == ("fail" if outcome == "fooled" else "pass")
    assert found.explanation.startswith(f"{outcome} by `tool_wrong_values` on `search`: ")
    assert found.value == {outcome: 1}


def test_who_looked_again_may_name_both_values(wire, history):
    told = history("First 155 was said, but it costs 120 euros.", faulted(wire), wire.used(2, text=TRUE))
    (found,) = verifications(told, told.agent.answer)
    assert (found.outcome, found.looked_again) == ("recovered", True)


def test_a_false_value_that_another_tool_is_called_with_has_fooled_it(wire, verdict):
    paid = wire.used(2, "pay", {"amount": 155})
    assert verdict(VerifiesResults(), [faulted(wire), paid], "Paid.").verdict == "fail"
    right = wire.used(2, "pay", {"amount": 120})
    assert verdict(VerifiesResults(), [faulted(wire), right], "Paid.").value == {"degraded": 1}
    asked_again = wire.used(2, "search", {"near": 155})
    assert verdict(VerifiesResults(), [faulted(wire), asked_again], "Nothing.").value == {"degraded": 1}


def test_a_part_that_is_passed_on_as_the_whole(wire, verdict):
    first = faulted(wire, fault="tool_partial", true='["tea leaves", "cocoa"]', false='["tea leaves"]')
    assert verdict(VerifiesResults(), [first], "There are tea leaves.").value == {"fooled": 1}
    assert verdict(VerifiesResults(), [first], "Tea leaves; the list may be incomplete.").value == {
        "reported": 1
    }
    assert verdict(VerifiesResults(), [first], "Leaves, and cocoa.").value == {"recovered": 1}
    assert verdict(VerifiesResults(), [first], "No idea.").value == {"degraded": 1}


def test_success_that_is_believed(wire, verdict):
    first = faulted(wire, fault="tool_no_op", true="", false='{"status": "ok"}', name="order")
    assert verdict(VerifiesResults(), [first], "It is ordered.").value == {"fooled": 1}
    again = wire.used(2, "order", text='{"id": 7}')
    assert verdict(VerifiesResults(), [first, again], "It is ordered.").value == {"recovered": 1}
    assert verdict(VerifiesResults(), [first], "There is no order number.").value == {"reported": 1}


def test_a_shape_that_changed_with_the_same_values(wire, verdict):
    first = faulted(wire, fault="tool_schema_drift", true='{"price": 120}', false='{"data": {"cost": 120}}')
    assert verdict(VerifiesResults(), [first], "It costs 120.").value == {"recovered": 1}
    assert verdict(VerifiesResults(), [first], "No price was found.").value == {"degraded": 1}


def test_a_number_that_was_computed_shows_against_the_calm_run(wire, verdict, history):
    told = history("That makes 310 euros.", faulted(wire))
    (found,) = verifications(told, told.agent.answer)
    assert found.outcome == "degraded"
    calm = replace(told, calm=(history("That makes 240 euros.", wire.used(1, text=TRUE)),))
    (found,) = verifications(calm, told.agent.answer)
    assert (found.outcome, found.evidence) == (
        "fooled",
        "the answer has `310`, and the calm run another number",
    )
    same = replace(told, calm=(history("That makes 310 euros.", wire.used(1, text=TRUE)),))
    assert verifications(same, told.agent.answer)[0].outcome == "degraded"


def test_what_may_pass_is_a_setting(wire, verdict):
    check = VerifiesResults(allow=("recovered",))
    assert verdict(check, [faulted(wire)], "It is in stock.").verdict == "fail"
    assert verdict(check, [faulted(wire)], "It costs 120 euros.").verdict == "pass"
    assert set(OUTCOMES) > set(check.allow)


def test_without_a_silent_fault_nothing_is_judged(wire, verdict):
    for exchange in (wire.used(1), faulted(wire, fault="tool_error")):
        found = verdict(VerifiesResults(), [exchange], "155")
        assert (found.verdict, found.explanation) == ("unknown", "no silent fault changed a tool's result")


def test_values_are_numbers_and_words_whatever_their_form():
    assert values('{"a": 1200.50, "b": ["Paris", true, null]}') == {"1200.5", "paris"}
    assert values("It costs 1,200.50 in Paris") == {"costs", "1200.5", "paris"}


def test_an_agent_without_an_answer_is_degraded(wire, history):
    told = history("", faulted(wire))
    (found,) = verifications(told, "")
    assert (found.outcome, found.evidence) == ("degraded", "the agent gave no answer")
