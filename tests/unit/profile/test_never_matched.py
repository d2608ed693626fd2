"""Values of `on` that no exchange has."""

from __future__ import annotations

from typing import Any

import pytest

from faultwire.profile.entry_model import On
from faultwire.profile.never_matched import value_problems


@pytest.mark.parametrize(
    ("on", "key", "message"),
    [
        ({"kind": ()}, "kind", "found an empty list for `kind`, which never matches"),
        ({"host": "a.test:443"}, "host", "found `a.test:443` for `host`, expected a name without a port"),
        ({"url": "a.test/*"}, "url",
         "found `a.test/*` for `url`, expected it to start with `http://`, `https://` or `*`"),
        ({"header": {"x team": "*"}}, "header",
         "found `x team` in `header`, expected the name of a header field"),
        ({"host": "a.test", "url": "https://b.test/*"}, "host",
         "found `host: a.test` with `url: https://b.test/*`, which exclude each other"),
        ({"path": ("/a", "/b*"), "url": "https://a.test/c*"}, "path",
         "found `path: [/a, /b*]` with `url: https://a.test/c*`, which exclude each other"),
    ],
)  # fmt: skip
def test_what_is_found(on: dict[str, Any], key: str, message: str) -> None:
    ((found, what, hint),) = value_problems(On(**on))
    assert (found, what) == (f"on.{key}", message)
    assert hint


@pytest.mark.parametrize(
    "on",
    [
        {"host": "::1"},
        {"host": "::1", "url": "http://[::1]:8080/*"},
        {"host": "a.test", "url": "https://a.test:8443/x"},
        {"host": "*.test", "url": "*a.test/*"},
        {"path": "/v1/*", "url": "https://a.test/v1/chat?x=1"},
        {"path": "/v1/chat", "url": "https://a.test/v1/chat"},
        {"url": "http?://a.test/*"},
        {"agent": "writer", "edge": "planner -> wr*"},
        {"header": {"X-Team": "*"}},
    ],
)
def test_what_goes_together(on: dict[str, Any]) -> None:
    assert list(value_problems(On(**on))) == []
