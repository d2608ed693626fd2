import pytest

from faultwire.checks.latency import Latency


@pytest.mark.parametrize(
    ("limit", "ended", "expected"),
    [
        (1000, {}, "pass"),
        (999, {}, "fail"),
        (500, {"timed_out": True, "exit_code": None}, "fail"),
        (5000, {"timed_out": True, "exit_code": None}, "unknown"),
        (5000, {"exit_code": None}, "unknown"),
    ],
)
def test_an_invocation_of_one_second(verdict, limit, ended, expected):
    assert verdict(Latency(max_ms=limit), **ended).verdict == expected


def test_no_limit_is_refused():
    with pytest.raises(ValueError, match="greater than 0"):
        Latency(max_ms=0)
