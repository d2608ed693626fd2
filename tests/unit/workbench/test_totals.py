from decimal import Decimal

from faultwire.workbench.totals import Totals

ROW = {"at": 0, "fired": [], "ending": "complete"}


def test_faults_of_an_exchange_under_way_are_counted_once() -> None:
    totals = Totals()
    totals.take({**ROW, "ending": "open", "fired": ["a"]}, new=True)
    totals.take({**ROW, "fired": ["a", "b"]}, new=False)
    totals.take({**ROW, "at": 1, "fired": ["a"]}, new=True)
    assert (totals.exchanges, totals.fired, totals._fired) == (2, 3, {})


def test_what_the_bodies_say_is_summed() -> None:
    totals = Totals()
    for at in range(3):
        totals.take({**ROW, "at": at}, new=True)
    paid = {**ROW, "tokens_in": 7, "tokens_out": 3, "cost_usd": "0.0000012", "cost_unknown": False}
    totals.content(paid)
    totals.content({**paid, "tokens_in": None, "cost_usd": None, "cost_unknown": True})
    found = totals.dump()
    assert (found["tokens_in"], found["tokens_out"], found["cost_unknown"], found["unread"]) == (7, 6, 1, 1)
    assert Decimal(found["cost_usd"]) == Decimal("0.0000012")


def test_an_answer_that_is_counted_elsewhere_is_paid_for_once() -> None:
    totals = Totals()
    totals.take(ROW, new=True)
    totals.content({"tokens_in": 7, "cost_usd": "1", "counted_elsewhere": True})
    assert (totals.read, totals.tokens_in, totals.cost) == (1, 0, 0)
