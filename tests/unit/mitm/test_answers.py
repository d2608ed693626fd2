"""What agents are told when something is not let through."""

from __future__ import annotations

import json

import pytest

from faultwire.events import header
from faultwire.mitm import answers


@pytest.mark.parametrize(
    ("refusal", "status", "kind"),
    [
        (answers.unknown_user(), 407, "faultwire_session"),
        (answers.not_allowed("why"), 403, "faultwire_refused"),
        (answers.unknown_route("x", ["a", "b"]), 404, "faultwire_route"),
        (answers.upstream_failed("why"), 502, "faultwire_upstream"),
        (answers.busy(3), 503, "faultwire_busy"),
        (answers.draining(), 503, "faultwire_stopping"),
        (answers.tape_failed("disk full"), 503, "faultwire_tape"),
        (answers.internal(ValueError("secret")), 502, "faultwire_internal"),
    ],
)
def test_refusals(refusal: answers.Refusal, status: int, kind: str) -> None:
    response = refusal.response()
    assert response.status == status
    assert response.reason == answers.REASONS[status]
    error = json.loads(response.body or b"")["error"]
    assert error == {"message": refusal.message, "type": kind}
    assert header(response.headers, "content-length") == str(len(response.body or b""))
    assert header(response.headers, "connection") == "close"


def test_only_failures_of_ours_void_a_run() -> None:
    assert answers.internal(ValueError()).void is not None
    assert answers.tape_failed("x").void is not None
    for refusal in (answers.not_allowed("x"), answers.upstream_failed("x"), answers.unknown_user()):
        assert refusal.void is None


def test_the_text_of_an_error_is_never_told() -> None:
    refusal = answers.internal(ValueError("sk-live-secret"))
    assert "sk-live" not in refusal.message
    assert "ValueError" in refusal.message


def test_what_would_fail_again_is_not_to_be_retried() -> None:
    assert header(answers.not_allowed("x").response().headers, "x-should-retry") == "false"
    assert header(answers.busy(1).response().headers, "retry-after") == "1"
