import pytest
from pydantic import ValidationError

from faultwire.checks.eventually import Eventually

CHECK = Eventually(after={"tool": "reserve"}, then=[{"tool": "pay"}, {"tool": "release"}], same=("order",))
PLAIN = Eventually(after={"tool": "reserve"}, then=[{"tool": "pay"}])
A, B = {"order": "A"}, {"order": "B"}


def test_one_of_the_ends_for_each_beginning(verdict, wire):
    both = [
        wire.used(1, "reserve", A),
        wire.used(2, "reserve", B),
        wire.used(3, "pay", B),
        wire.used(4, "release", A),
    ]
    found = verdict(CHECK, both)
    assert (found.verdict, found.explanation) == ("pass", "`pay` or `release` came after `reserve`, 2 times")
    assert verdict(CHECK.model_copy(update={"negate": True}), both).verdict == "fail"


def test_an_end_of_something_else_or_before_is_none(verdict, wire):
    for exchanges in (
        [wire.used(1, "reserve", A), wire.used(2, "pay", B)],
        [wire.used(1, "pay", A), wire.used(2, "reserve", A)],
        [wire.used(1, "reserve", A)],
    ):
        found = verdict(CHECK, exchanges)
        assert found.verdict == "fail"
        assert found.explanation == "`reserve` was done 1 time without `pay` or `release` after it"
    assert found.exchanges == (1,)


def test_what_was_refused_was_not_done(verdict, wire):
    assert verdict(PLAIN, [wire.used(1, "reserve"), wire.used(2, "pay", status=409)]).verdict == "fail"
    found = verdict(PLAIN, [wire.used(1, "reserve", status=409)])
    assert (found.verdict, found.explanation) == ("unknown", "`reserve` was not seen to be done")


def test_what_may_have_been_done_is_unknown(verdict, wire):
    maybe = [wire.used(1, "reserve", A), wire.used(2, "pay", A, status=503)]
    found = verdict(CHECK, maybe)
    assert found.explanation == "whether `pay` or `release` was done after `reserve` was not seen"
    assert verdict(CHECK, [wire.used(1, "reserve", A), wire.used(2, "pay", {"x": 1})]).verdict == "unknown"
    asked = [wire.used(1, "reserve", A), wire.talk(2, calls=[wire.call("pay")], answer=None)]
    assert verdict(CHECK, asked).verdict == "unknown"
    sure = [*maybe, wire.used(3, "pay", A)]
    assert verdict(CHECK, sure).verdict == "pass"


def test_an_argument_that_is_missing_is_unknown(verdict, wire):
    found = verdict(CHECK, [wire.used(1, "reserve", {"x": 1}), wire.used(2, "pay", A)])
    assert (found.verdict, found.explanation) == ("unknown", "`reserve` has no order in exchange 1")


def test_tools_inside_of_the_agent(verdict, wire):
    def shown(*names):
        calls = [wire.call(name, '{"order": "A"}', f"c{at}") for at, name in enumerate(names)]
        results = [wire.result("ok", f"c{at}") for at in range(len(names))]
        return [
            wire.talk(1, calls=calls, answer=None),
            wire.talk(2, [wire.user(), wire.said("", *calls), *results]),
        ]

    assert verdict(CHECK, shown("reserve")).verdict == "fail"
    assert verdict(CHECK, shown("reserve", "pay")).verdict == "unknown", "in one turn they have no order"
    later = [*shown("reserve"), wire.used(3, "pay", A)]
    assert verdict(CHECK, later).verdict == "pass"
    between = [
        wire.talk(1, calls=[wire.call("reserve", '{"order": "A"}')], answer=None),
        wire.used(2, "pay", A),
    ]
    between.append(
        wire.talk(3, [wire.user(), wire.said("", wire.call("reserve", '{"order": "A"}')), wire.result("ok")])
    )
    assert verdict(CHECK, between).verdict == "unknown", "it ran some time before it was shown"


def test_an_address_is_a_step_too(verdict, wire):
    check = Eventually(after={"url": "http://tools.test/lock"}, then=[{"url": "http://tools.test/unlock*"}])
    assert (
        verdict(check, [wire.used(1, "lock"), wire.used(2, "unlock", path="/unlock?x=1")]).verdict == "pass"
    )
    assert verdict(check, [wire.used(1, "lock"), wire.used(2, "other")]).verdict == "fail"


def test_a_step_is_a_tool_or_an_address():
    with pytest.raises(ValidationError, match="one of `tool` and `url`"):
        Eventually(after={}, then=[{"tool": "x"}])
    with pytest.raises(ValidationError):
        Eventually(after={"tool": "x", "url": "y"}, then=[{"tool": "x"}])
