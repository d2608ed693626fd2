from __future__ import annotations

import pytest

from faultwire.lineage.values import kind_of, values


@pytest.mark.parametrize(
    "token",
    ["ORD-88123", "call_5fa2d221", "550e8400-e29b-41d4-a716-446655440000", "ada@example.com", "a1b2c3d4e5f6",
     "redacted:v1:00112233445566778899aabbccddeeff"],
)  # fmt: skip
def test_ids(token: str) -> None:
    assert kind_of(token) == "id"


@pytest.mark.parametrize(
    "token",
    ["Paris", "gpt-4o-mini", "gpt-4o-mini-2024-07-18", "v1.0.0", "step10", "user_1",
     "application/json", "2024-05-01", "utf-8", "sha256", "h264"],
)  # fmt: skip
def test_names_are_no_ids(token: str) -> None:
    assert kind_of(token) is None


@pytest.mark.parametrize(
    ("token", "specific"),
    [("1299.5", True), ("98231", True), ("48.8566", True), ("503", False), ("2024", False), ("5000", False),
     ("0.5", False), ("10.0", False), ("-1299", True)],
)  # fmt: skip
def test_specific_numbers(token: str, specific: bool) -> None:
    assert (kind_of(token) == "number") is specific


def test_ids_are_found_within_text_and_addresses() -> None:
    assert values(["see https://x.example/orders/ORD-88123."])["ORD-88123"] == "id"
    assert values(["see order nine."]) == {}
