"""What needs no server of LangSmith; the rest is in tests/e2e/incidents."""

from __future__ import annotations

import importlib.util
from datetime import UTC, datetime, timedelta

import pytest

from faultwire.errors import UsageError
from faultwire.replay.langsmith import LangSmith, since
from faultwire.tape.redact.redactor import Redactor

NOW = datetime(2026, 11, 22, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "ago"),
    [
        ("7d", timedelta(days=7)),
        ("last_7_days", timedelta(days=7)),
        ("last 24 hours", timedelta(hours=24)),
        ("30m", timedelta(minutes=30)),
        ("2 weeks", timedelta(weeks=2)),
        ("1day", timedelta(days=1)),
    ],
)
def test_spans_count_back_from_now(text: str, ago: timedelta) -> None:
    assert since(text, NOW) == NOW - ago


def test_dates_are_of_utc_unless_they_say_otherwise() -> None:
    assert since("2026-11-20") == datetime(2026, 11, 20, tzinfo=UTC)
    assert since("2026-11-20T10:00:00+02:00") == datetime(2026, 11, 20, 8, 0, tzinfo=UTC)


@pytest.mark.parametrize("text", ["", "soon", "7", "d", "-7d", "7d7d", "999999d", "20.11.2026"])
def test_what_is_no_date_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="for a date, expected for example `7d`, `24h` or `2026-01-31`"):
        since(text, NOW)


@pytest.mark.skipif(importlib.util.find_spec("langsmith") is not None, reason="its client is installed")
def test_without_its_client_it_states_how_to_install_it() -> None:
    with pytest.raises(UsageError, match="cannot import LangSmith's client") as caught:
        LangSmith(Redactor(b"k" * 32), {"LANGSMITH_API_KEY": "x"})
    assert caught.value.hint == "pip install 'faultwire[langsmith]'"
