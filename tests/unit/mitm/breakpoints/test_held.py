"""How long a client says that it waits."""

from __future__ import annotations

import pytest
from tests.unit.mitm.breakpoints.conftest import Bench, chat

from faultwire.mitm.breakpoints.held import Waits, client_waits


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("x-stainless-read-timeout", "600.0", Waits(600.0, "x-stainless-read-timeout", False)),
        ("X-Stainless-Timeout", "60", Waits(60.0, "x-stainless-timeout", False)),
        ("x-server-timeout", "30", Waits(30.0, "x-server-timeout", True)),
        ("grpc-timeout", "500m", Waits(0.5, "grpc-timeout", True)),
        ("grpc-timeout", "2H", Waits(7200.0, "grpc-timeout", True)),
        ("grpc-timeout", "500", None),
        ("x-stainless-timeout", "NOT_GIVEN", None),
        ("x-stainless-timeout", "0", None),
        ("x-stainless-timeout", "5S", None),
        ("timeout", "5", None),
    ],
)
def test_sdks_say_how_long_they_wait(name: str, value: str, expected: Waits | None) -> None:
    assert client_waits(((name, value),)) == expected


def test_what_is_left_begins_anew_with_each_sign_of_life_where_reads_are_limited(bench: Bench) -> None:
    mutator = bench.start(chat(headers=(("x-stainless-read-timeout", "60"),)), "request")
    next(iter(mutator.before()))
    bench.at += 10
    (held,) = bench.desk.listed()
    assert (held["client_left_s"], held["held_s"]) == (50, 10)
    bench.desk._all[held["id"]].last_sent = bench.at
    assert bench.desk.listed()[0]["client_left_s"] == 60
