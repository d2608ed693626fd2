"""Alerts: each webhook gets its form, nothing that deceives, and no one else learns its address."""

from __future__ import annotations

import json
from email import message_from_bytes
from typing import Any

import httpx
import pytest

from faultwire.service.alerts import MOST, body, send
from faultwire.service.regression import Drop
from faultwire.service.settings import Alert

DROP = Drop("contract", "<!channel> `calm`\u202e", (12, 30), (29, 30), 0.00001)
RUN = {"id": "r2", "commit_id": "abc"}
URL = "https://hooks.example/T0/secret"


def test_each_form_has_what_fell() -> None:
    kind, data = body(Alert(url=URL), "shop", RUN, "r1", [DROP])
    found = json.loads(data)
    assert (kind, found["event"], found["run"], found["baseline"]) == (
        "application/json",
        "regression",
        "r2",
        "r1",
    )
    assert found["drops"][0]["now"] == [12, 30]
    kind, data = body(Alert(url=URL, format="slack"), "shop", RUN, "r1", [DROP])
    text = json.loads(data)["text"]
    assert text.startswith(
        "*shop: run r2 is significantly worse than r1*\n• contract, scenario '&lt;!channel&gt;"
    )
    assert "<" not in text
    assert "\u202e" not in text
    kind, data = body(Alert(url=URL, format="email"), "shop", RUN, "r1", [DROP])
    message = message_from_bytes(data)
    assert (kind, message["X-Faultwire-Run"]) == ("message/rfc822", "r2")
    assert message["Subject"] == "shop: run r2 is significantly worse than r1"


def test_a_name_adds_no_field_to_a_mail() -> None:
    _, data = body(Alert(url=URL, format="email"), "shop", {"id": "r\nBcc: evil@x"}, "r1", [DROP])
    assert message_from_bytes(data)["Bcc"] is None


def test_many_drops_are_counted() -> None:
    _, data = body(Alert(url=URL), "shop", RUN, "r1", [DROP] * (MOST + 3))
    assert json.loads(data)["drops_left_out"] == 3


@pytest.mark.parametrize(
    ("answers", "tries", "problem"),
    [
        ([200], 1, []),
        ([500, 200], 2, []),
        ([500, 500, 500], 3, ["status 500"]),
        ([404], 1, ["status 404"]),
        ([httpx.ConnectError("x"), 200], 2, []),
        ([httpx.ConnectError("x")] * 3, 3, ["ConnectError"]),
    ],
)
def test_a_webhook_is_tried_again_where_that_may_help(
    answers: list[Any], tries: int, problem: list[str]
) -> None:
    seen = []

    def post(url: str, **_: Any) -> httpx.Response:
        seen.append(url)
        answer = answers[len(seen) - 1]
        if isinstance(answer, Exception):
            raise answer
        return httpx.Response(answer)

    found = list(send([Alert(url=URL)], "shop", RUN, "r1", (DROP,), post))
    assert len(seen) == tries
    assert [one.rpartition(": ")[2] for one in found] == problem
    assert "secret" not in "".join(found)


def test_without_a_drop_nobody_is_asked() -> None:
    def post(*_: Any, **__: Any) -> httpx.Response:
        raise AssertionError

    assert list(send([Alert(url=URL)], "shop", RUN, "r1", (), post)) == []
