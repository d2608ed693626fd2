"""Handshakes that led to no call."""

from __future__ import annotations

import pytest

from faultwire.events import FailedHandshake
from faultwire.mitm.network.client_process import Process
from faultwire.mitm.sessions.handshakes import CLIENTS_KEPT, KEPT, Handshakes, TlsClient, is_model_host

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


CURL, PYTHON = Process(1, "/usr/bin/curl"), Process(2, "/usr/bin/python3")
NODE, OTHER_NODE = Process(3, "/usr/bin/node"), Process(4, "/usr/bin/node")


@pytest.mark.parametrize(
    ("went_on", "closed"),
    [
        pytest.param(
            TlsClient(NODE, "n"), TlsClient(OTHER_NODE, "n"), id="another-process-of-the-same-program"
        ),
        pytest.param(TlsClient(CURL, "c"), TlsClient(PYTHON, "p"), id="another-program"),
        pytest.param(TlsClient(None, "c"), TlsClient(PYTHON, "p"), id="an-unknown-process-that-offers-less"),
        pytest.param(TlsClient(CURL, "c"), TlsClient(None, "p"), id="unknown-and-offers-something-else"),
    ],
)
def test_one_client_that_went_on_says_nothing_of_another(went_on: TlsClient, closed: TlsClient) -> None:
    handshakes = Handshakes()
    handshakes.answer("api.example", went_on)
    handshakes.fail("API.example", "", closed)
    program = closed.process.program if closed.process else None
    assert handshakes.failed == (FailedHandshake("api.example", "closed", 1, program),)


@pytest.mark.parametrize(
    ("went_on", "closed"),
    [
        pytest.param(TlsClient(NODE, "n"), TlsClient(NODE, "n"), id="a-pool"),
        pytest.param(TlsClient(NODE, "n"), TlsClient(NODE, "other"), id="two-clients-of-one-process"),
        pytest.param(TlsClient(None, "n"), TlsClient(NODE, "n"), id="the-other-may-be-the-same-process"),
        pytest.param(TlsClient(NODE, "n"), TlsClient(None, "n"), id="it-may-be-the-same-process"),
        pytest.param(TlsClient(None, ""), TlsClient(None, ""), id="nothing-is-known"),
    ],
)
def test_a_client_that_opens_more_than_it_uses_is_not_accused(went_on: TlsClient, closed: TlsClient) -> None:
    for first in (True, False):
        handshakes = Handshakes()
        for answers in (first, not first):
            if answers:
                handshakes.answer("api.example", went_on)
            else:
                handshakes.fail("api.example", "connection closed", closed)
        assert handshakes.failed == ()
        handshakes.fail("other.example", "", closed)
        assert [one.host for one in handshakes.failed] == ["other.example"]


def test_where_too_many_went_on_to_know_each_what_they_offer_decides() -> None:
    handshakes = Handshakes()
    for number in range(CLIENTS_KEPT + 2):
        handshakes.answer("a.example", TlsClient(Process(number, "x"), "same"))
    handshakes.fail("a.example", "", TlsClient(Process(CLIENTS_KEPT + 1, "x"), "same"))
    assert handshakes.failed == ()


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
