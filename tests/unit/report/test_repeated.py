"""What is said of a request that was sent again although its server had done what it asked."""

from dataclasses import replace

import pytest
from tests.unit.checks.conftest import at_once, in_turn, line, talk, used

from faultwire.events import Delivery, History
from faultwire.report.noticed import noticed
from faultwire.report.repeated import repeats_what_was_done

GONE = Delivery(504, "", (), b"{}")


def order(number, delivered=None, key=None, at_ms=None, **changes):
    """A request of an agent to a shop that nobody has declared as a tool."""
    headers = () if key is None else (("idempotency-key", key),)
    made = used(number, "orders", kind="other", tool=None, headers=headers, host="shop.test", **changes)
    made = replace(made, started_ms=made.started_ms if at_ms is None else at_ms)
    if delivered is None:
        return made
    return replace(made, delivered=delivered, faults=(line("timeout_after_commit", site="response"),))


def found(*exchanges):
    return repeats_what_was_done(History("exec", exchanges))


def test_what_was_done_and_is_sent_again_is_named():
    evidence = found(order(1, GONE), order(2))
    assert evidence.exchanges == (1, 2)
    assert evidence.words == (
        "`shop.test/orders` answered 200 to #1, the agent got 504 and sent the same POST again without the "
        "same idempotency key"
    )
    reset = replace(order(1, GONE), delivered=None, ending="reset")
    assert "the agent got nothing and sent" in found(reset, order(2)).words


def test_exec_notices_it():
    (rule, evidence), *more = noticed(History("exec", (order(1, GONE), order(2))), 0)
    assert (rule.id, evidence.exchanges, more) == ("act_once", (1, 2), [])


@pytest.mark.parametrize(
    "exchanges",
    [
        (order(1, GONE),),
        (order(1), order(2)),
        (order(1, GONE, key="a"), order(2, key="a")),
        (order(1, GONE), order(2, arguments={"q": "another"})),
        (order(1, GONE, method="GET"), order(2, method="GET")),
        (order(1, GONE, method="PUT"), order(2, method="PUT")),
        (replace(order(1, GONE), upstream=None), order(2)),
        (replace(order(1, GONE), upstream=GONE), order(2)),
        (replace(order(1, GONE), faults=()), order(2)),
        (replace(talk(1, status=504), upstream=talk(1).upstream, faults=(line(),)), talk(2)),
        at_once(order(1, GONE), order(2, at_ms=1101)),
        (replace(order(1, used(1).delivered), ending="cut"), order(2)),
    ],
    ids=[
        "not sent again", "its answer came", "the same key", "another order", "only read", "idempotent",
        "never asked", "failed by itself", "no fault", "a model", "sent at once", "cut within a good answer",
    ],
)  # fmt: skip
def test_of_others_nothing_is_said(exchanges):
    assert found(*exchanges) is None


def test_another_key_does_not_help_and_an_immediate_repetition_counts():
    assert found(order(1, GONE, key="a"), order(2, key="b")) is not None
    assert found(*in_turn(order(1, GONE), order(2, at_ms=1101))) is not None


def test_a_key_that_stands_elsewhere_is_one():
    for name, said in (("idempotency_key", False), ("note", True)):
        twice = [order(number, got, arguments={name: "k1"}) for number, got in ((1, GONE), (2, None))]
        assert (found(*twice) is not None) == said
