"""Where a service may listen."""

from __future__ import annotations

from pathlib import Path

import pytest

from faultwire.errors import UsageError
from faultwire.ingestion.serve import Listen


def test_loopback_needs_nothing_and_has_its_three_names() -> None:
    listen = Listen.parse("127.0.0.1:80", None, None, None)
    assert listen.hosts(80) == {
        f"{name}{port}" for name in ("127.0.0.1", "localhost", "[::1]") for port in ("", ":80")
    }
    assert listen.hosts(8080) == {"127.0.0.1:8080", "localhost:8080", "[::1]:8080"}


@pytest.mark.parametrize(
    "place", ["127.0.0.1", ":80", "127.0.0.1:x", "127.0.0.1:70000", "0.0.0.0:80", "[::]:80"]
)
def test_what_is_no_place_or_open_to_all_is_refused(place: str) -> None:
    with pytest.raises(UsageError):
        Listen.parse(place, None, None, None)


def test_one_half_of_a_certificate_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="expected both or none"):
        Listen.parse("127.0.0.1:0", tmp_path, None, None)
