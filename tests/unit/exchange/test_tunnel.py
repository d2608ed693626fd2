"""What becomes of a tunnel, without any socket."""

from __future__ import annotations

from dataclasses import replace

import pytest

from faultwire.dice import Dice
from faultwire.events import Request, header
from faultwire.exchange.request_out import SessionContext
from faultwire.exchange.session_state import SessionState
from faultwire.exchange.tunnel import Tunnel, divide
from faultwire.profile.dump import merge
from faultwire.profile.inline import inline
from faultwire.profile.model import Profile


def session(*faults: str, seed: int = 1) -> SessionContext:
    profile = merge([inline(fault) for fault in faults]) if faults else Profile(name="calm")
    return SessionContext("s", profile, Dice(seed, "s"), SessionState())


def connect(context: SessionContext, host: str = "api.openai.com", port: int = 443) -> Tunnel:
    return Tunnel(context, divide(context.profile), Request("CONNECT", "https", host, port, ""))


# ---------------------------------------------------------------- who is asked


@pytest.mark.parametrize(
    ("fault", "stage"),
    [
        ("{refuse: {}, on: {host: a}}", "outside"),
        ("{refuse: {}, on: {host: a, session: s}}", "outside"),
        ("refuse: {}", "inside"),
        ("{refuse: {}, on: {kind: llm}}", "inside"),
        ("{refuse: {}, on: {host: a, path: /x}}", "inside"),
        ("tls_failure: {}", "outside"),
        ("{dns_failure: {}, on: {kind: llm}}", "outside"),
        ("{dns_failure: {}, on: {provider: openai}}", "outside"),
        ("{tls_failure: {}, on: {path: /x}}", "never"),
        ("{dns_failure: {}, on: {model: gpt-4o}}", "never"),
        ("{latency: {ms: 1}, on: {host: a}}", "inside"),
    ],
)
def test_an_entry_is_judged_at_one_stage_only(fault: str, stage: str) -> None:
    stages = divide(session(fault).profile)
    found = {
        "outside": len(stages.outside.entries),
        "inside": len(stages.inside.entries),
        "never": len(stages.never),
    }
    assert found == {**dict.fromkeys(found, 0), stage: 1}
    assert stages.idle == (stage == "inside")
    assert [e.id for e in stages.inside.composed] == [e.id for e in stages.inside.entries]


def test_a_host_counts_as_what_it_is_known_for() -> None:
    context = session("tls_failure: {}")
    assert connect(context).flaw == "expired"
    assert connect(context, "bedrock-runtime.eu-west-1.amazonaws.com").flaw == "expired"
    for other in ("elsewhere.test", "localhost", "s3.amazonaws.com"):
        made = connect(context, other)
        assert (made.flaw, made.judged) == (None, False)
    named = session("{tls_failure: {}, on: {host: elsewhere.test}}")
    assert connect(named, "elsewhere.test").flaw == "expired"


def test_what_is_matched_by_what_comes_later_says_so() -> None:
    (line,) = connect(session("{dns_failure: {}, on: {path: /v1/x, kind: llm}}")).ledger()
    assert line.outcome == "inapplicable"
    assert line.reason == "`path` is not known when a connection is made: match it with `host`"
    elsewhere = session("{dns_failure: {}, on: {path: /v1/x, host: other.test}}")
    assert connect(elsewhere).ledger() == ()


# ---------------------------------------------------------------- what is decided


def test_the_first_that_fires_ends_it_and_the_ledger_names_all() -> None:
    context = session(
        "{dns_failure: {reason: timeout}, on: {host: api.openai.com}}",
        "{refuse: {}, on: {host: api.openai.com}}",
        "{tls_failure: {}, on: {host: nowhere.test}}",
    )
    made = connect(context)
    assert made.answer is not None
    assert made.answer.status == 504
    assert header(made.answer.headers, "proxy-status") == "proxy; error=dns_timeout"
    assert made.flaw is None
    outcomes = [(line.id, line.outcome) for line in made.ledger()]
    assert outcomes == [("dns_failure", "fired"), ("refuse", "preempted")]
    assert made.exchange.number == 1
    assert made.exchange.kind == "other"


def test_a_flaw_is_met_only_when_the_client_saw_it() -> None:
    made = connect(session("tls_failure: {reason: untrusted}"))
    assert made.ledger()[0].outcome == "no_effect"
    made.mark_failed(made.effect)
    assert made.ledger()[0].outcome == "fired"
    assert made.ledger()[0].effect == "showed a certificate of an unknown authority"


def test_calls_are_connections_and_their_retries_are_one() -> None:
    context = session("{refuse: {}, on: {host: api.openai.com}, trigger: {first: 1}}")
    met = [connect(context) for _ in range(6)]
    assert [made.answer is not None for made in met] == [True, True, True, True, False, False]
    assert [(m.exchange.n, m.exchange.attempt) for m in met[:5]] == [(0, 0), (0, 1), (0, 2), (0, 3), (1, 0)]
    assert met[4].ledger()[0].reason == "call 2 is past the first 1"
    assert connect(context, port=8443).exchange.key != met[0].exchange.key


def test_same_seed_same_tunnels_and_another_seed_others() -> None:
    fault = "{tls_failure: {}, on: {host: '*'}, trigger: {probability: 0.5}}"
    hosts = [f"h{n}.test" for n in range(64)]

    def plan(seed: int, order: list[str]) -> dict[str, bool]:
        context = session(fault, seed=seed)
        return {host: connect(context, host).flaw is not None for host in order}

    first = plan(1, hosts)
    assert plan(1, hosts[::-1]) == first
    assert plan(2, hosts) != first
    assert 10 < sum(first.values()) < 54


def test_what_a_tunnel_meets_takes_nothing_from_the_requests_in_it() -> None:
    context = session("{refuse: {}, on: {host: api.openai.com}, trigger: {calls: [99]}}")
    made = connect(context)
    assert made.judged
    assert made.answer is None
    assert made.ledger()[0].outcome == "skipped"
    inner = replace(
        made.exchange, request=replace(made.exchange.request, method="GET", path="/"), key="other"
    )
    assert context.state.identify(inner).n == 0
