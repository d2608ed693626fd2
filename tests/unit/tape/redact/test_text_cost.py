"""What the search for secrets in a text costs: CPU time, so no other test of redaction stands here."""

from __future__ import annotations

import gc
import json
import time

import pytest

from faultwire.tape.redact.text import edits


def seconds(text: str) -> float:
    gc.disable()  # as `timeit` does: what a worker holds besides is no cost of this search
    try:
        began = time.process_time()
        edits(text)
        return time.process_time() - began
    finally:
        gc.enable()


def chat(size: int) -> str:
    one = {"role": "tool", "content": json.dumps({"a": "b" * 40})}
    return json.dumps({"session_id": "x", "messages": [one] * (size // 86)})


def test_json_in_json_costs_in_proportion_to_its_size() -> None:
    small = min(seconds(chat(125_000)) for _ in range(3))
    assert min(seconds(chat(500_000)) for _ in range(3)) < 12 * small  # 16 where it is quadratic


@pytest.mark.parametrize(
    "unit",
    [
        *("%41!", "c2st ", "eyJ", "sk-", "\\", '\\"', "?key=a&", '"pwd":', "'pwd':\"", '"pwd":[1,'),
        *("eyJ.eyJ12345678", "-----BEGIN PRIVATE KEY-----", '"\\"\n', "\\u0041", '"\\u0041', "://a:"),
    ],
    ids=lambda unit: ascii(unit).replace("\\", "/"),
)
def test_no_text_makes_the_search_start_over_and_over(unit: str) -> None:
    small, large = (unit * (size // len(unit)) + '"password": "x" .eyJ12345678' for size in (40_000, 320_000))
    # 8 where each place is looked at once, 64 where each looks through all the others again.
    least = min(seconds(small) for _ in range(3))
    assert any(seconds(large) < 24 * least for _ in range(3))  # other work on the machine slows single runs
