"""What agents are told when something is not let through."""

from __future__ import annotations

import json

import pytest

from faultwire.events import header
from faultwire.mitm.messages import error_responses


@pytest.mark.parametrize(
    ("refusal", "status", "kind"),
    [
        (error_responses.unknown_user(), 407, "faultwire_session"),
        (error_responses.not_allowed("why"), 403, "faultwire_refused"),
        (error_responses.unknown_route("x", ["a", "b"]), 404, "faultwire_route"),
        (error_responses.upstream_failed("why"), 502, "faultwire_upstream"),
        (error_responses.busy(3), 503, "faultwire_busy"),
        (error_responses.draining(), 503, "faultwire_stopping"),
        (error_responses.tape_failed("disk full"), 503, "faultwire_tape"),
        (error_responses.internal(ValueError("secret")), 502, "faultwire_internal"),
    ],
)
def test_refusals(refusal: error_responses.Refusal, status: int, kind: str) -> None:
    response = refusal.response()
    assert response.status == status
    assert response.reason == error_responses.REASONS[status]
    error = json.loads(response.body or b"")["error"]
    assert error == {"message": refusal.message, "type": kind}
    assert header(response.headers, "content-length") == str(len(response.body or b""))
    assert header(response.headers, "connection") == "close"


def test_only_failures_of_ours_void_a_run() -> None:
    assert error_responses.internal(ValueError()).void is not None
    assert error_responses.tape_failed("x").void is not None
    for refusal in (
        error_responses.not_allowed("x"),
        error_responses.upstream_failed("x"),
        error_responses.unknown_user(),
    ):
        assert refusal.void is None


def test_the_text_of_an_error_is_never_reported() -> None:
    refusal = error_responses.internal(ValueError("sk-live-secret"))
    assert "sk-live" not in refusal.message
    assert "ValueError" in refusal.message


def test_what_would_fail_again_is_not_to_be_retried() -> None:
    assert header(error_responses.not_allowed("x").response().headers, "x-should-retry") == "false"
    assert header(error_responses.busy(1).response().headers, "retry-after") == "1"
