from tests.unit.checks.conftest import talk

from faultwire.events import History
from faultwire.trials.execute import cost_of


def cost(*exchanges):
    return cost_of(History("s", exchanges))


def test_answers_without_a_price_are_counted_beside_the_dollars():
    assert cost(talk(1, model="my-own-model"), talk(2, model="my-own-model")) == (0.0, 2)
    assert cost(talk(1, usage=False)) == (0.0, 1)
    known = cost(talk(1))
    assert known.usd > 0
    assert known.unpriced == 0
    assert cost(talk(1), talk(2, model="my-own-model")) == (known.usd, 1)


def test_what_no_model_answered_costs_nothing():
    assert cost() == cost(talk(1, status=503)) == cost(talk(1, upstream=None)) == (0.0, 0)
