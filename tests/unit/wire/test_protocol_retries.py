"""The count of retries that an SDK sends with a request."""

from __future__ import annotations

import pytest

from faultwire.wire.protocol_retries import retry_count


@pytest.mark.parametrize(
    ("headers", "count"),
    [
        ((), None),
        ((("x-stainless-retry-count", "0"),), 0),
        ((("X-Stainless-Retry-Count", "2"),), 2),
        ((("x-stainless-retry-count", "two"),), None),
        ((("x-stainless-retry-count", "-1"),), None),
        ((("x-stainless-retry-count", "9" * 40),), None),
    ],
)
def test_only_a_small_whole_number_counts(headers: tuple[tuple[str, str], ...], count: int | None) -> None:
    assert retry_count(headers) == count


def test_of_a_header_that_comes_twice_the_first_one_counts() -> None:
    assert retry_count((("X-Stainless-Retry-Count", "2"), ("x-stainless-retry-count", "5"))) == 2
    assert retry_count((("amz-sdk-request", "attempt=2"), ("amz-sdk-request", "attempt=9"))) == 1
