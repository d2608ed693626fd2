"""A thousand histories within a second, for the checks that every contract has."""

from faultwire import clock
from faultwire.checks._registry import read

CONTRACT = (
    {"type": "completes"},
    {"type": "output_not_empty"},
    {"type": "contains", "value": "391"},
    {"type": "no_retry_storm"},
    {"type": "tool_called", "tool": "search"},
    {"type": "max_tokens", "max": 1000},
    {"type": "max_llm_calls", "max": 5},
    {"type": "valid_history"},
    {"type": "truncated_stream_not_accepted"},
    {"type": "no_fabrication"},
    {"type": "recovers_within", "max_s": 9},
    {"type": "no_duplicate_side_effect", "tools": ["refund"]},
)


def test_a_thousand_histories(history, wire):
    checks = [read(one) for one in CONTRACT]
    call = wire.call("search", '{"q": "17*23"}')
    told = [wire.user(), wire.said("", call), wire.result("391")]

    def one():
        return history(
            "It is 391.", wire.talk(1, calls=[call], answer=None), wire.talk(2, told, answer="It is 391.")
        )

    histories = [one() for _ in range(1000)]
    began = clock.cpu_s()
    verdicts = [check.verdict(told).verdict for told in histories for check in checks]
    took = clock.cpu_s() - began
    assert verdicts.count("pass") == 8000
    assert took < 1.0, f"{took:.2f} s of CPU"
