"""Handshakes that led to no call."""

from __future__ import annotations

import pytest

from faultwire.events import FailedHandshake
from faultwire.mitm.sessions.handshakes import KEPT, Handshakes, is_model_host

ALERT = "OpenSSL Error([('SSL routines', '', 'ssl/tls alert certificate unknown')])"


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        ("tlsv1 alert unknown ca", "refused"),
        ("ssl/tls alert bad certificate", "refused"),
        (ALERT, "refused"),
        ("connection closed", "closed"),
        ("OpenSSL Error([('SSL routines', '', 'no shared cipher')])", "closed"),
        ("", "closed"),
    ],
)
def test_a_refusal_is_distinguished_from_a_closed_connection(error: str, reason: str) -> None:
    handshakes = Handshakes()
    handshakes.fail("API.example", error)
    assert [(one.host, one.reason, one.count) for one in handshakes.failed] == [("api.example", reason, 1)]


def test_a_closed_connection_says_nothing_where_calls_came() -> None:
    handshakes = Handshakes()
    for host in ("a.example", "b.example"):
        handshakes.fail(host, "")
        handshakes.fail(host, "tlsv1 alert unknown ca")
    assert [(one.host, one.reason) for one in handshakes.failed] == [
        ("a.example", "closed"), ("a.example", "refused"), ("b.example", "closed"), ("b.example", "refused"),
    ]  # fmt: skip
    handshakes.answer("A.example")
    assert [(one.host, one.reason) for one in handshakes.failed] == [
        ("a.example", "refused"), ("b.example", "closed"), ("b.example", "refused"),
    ]  # fmt: skip


def test_a_program_is_named_once_it_is_known() -> None:
    handshakes = Handshakes()
    for _ in range(3):
        reason = handshakes.fail("a.example", "tlsv1 alert unknown ca")
    handshakes.name("a.example", reason, "/usr/bin/node")
    handshakes.name("a.example", "closed", "/usr/bin/node")
    assert handshakes.failed == (
        FailedHandshake("a.example", "refused", 2),
        FailedHandshake("a.example", "refused", 1, "/usr/bin/node"),
    )
    assert [one.text for one in handshakes.failed] == [
        "a client refused faultwire's certificate for `a.example` (2 handshakes)",
        "`node` refused faultwire's certificate for `a.example` (1 handshake)",
    ]


def test_no_more_than_so_many_are_kept() -> None:
    handshakes = Handshakes()
    for number in range(KEPT + 5):
        handshakes.fail(f"h{number}.example", "")
        handshakes.fail("h0.example", "")
    assert len(handshakes.failed) == KEPT
    assert handshakes.failed[0].count == KEPT + 6


@pytest.mark.parametrize(
    ("host", "known"),
    [
        ("api.openai.com", True),
        ("API.Anthropic.com", True),
        ("mine.openai.azure.com", True),
        ("example.com", False),
    ],
)
def test_known_model_hosts(host: str, known: bool) -> None:
    assert is_model_host(host) == known
