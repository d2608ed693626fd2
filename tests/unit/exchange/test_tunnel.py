"""What becomes of a tunnel, without any socket."""

from __future__ import annotations

from dataclasses import replace

import pytest

from faultwire import wire
from faultwire.dice import Dice
from faultwire.events import Request, header
from faultwire.exchange.request_out import SessionContext
from faultwire.exchange.session_state import SessionState
from faultwire.exchange.tunnel import Tunnel, divide
from faultwire.faults._api import Fault
from faultwire.faults.connection.dns_failure import DnsFailure
from faultwire.faults.connection.tls_failure import TlsFailure
from faultwire.profile.dump import merge
from faultwire.profile.entry_model import Entry, On
from faultwire.profile.inline import inline
from faultwire.profile.model import Profile


def session(*faults: str, seed: int = 1, also: tuple[Entry, ...] = ()) -> SessionContext:
    profile = merge([inline(fault) for fault in faults]) if faults else Profile(name="calm")
    profile = Profile(name="p", entries=(*profile.entries, *also)) if also else profile
    return SessionContext("s", profile, Dice(seed, "s"), SessionState())


def late(fault: Fault, ident: str = "dns_failure", **on: str) -> Entry:
    """An entry that no profile may hold, but the tape of an older version may: it is matched by what is not
    known yet."""
    return Entry(id=ident, fault=fault, on=On.model_validate(on))


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
        ("{dns_failure: {}, on: {kind: llm, provider: openai, host: a, session: s}}", "outside"),
        (late(TlsFailure(), path="/x"), "never"),
        (late(DnsFailure(), model="gpt-4o"), "never"),
        ("{latency: {ms: 1}, on: {host: a}}", "inside"),
    ],
)
def test_an_entry_is_judged_at_one_stage_only(fault: str | Entry, stage: str) -> None:
    made = session(fault) if isinstance(fault, str) else session(also=(fault,))
    stages = divide(made.profile)
    found = {
        "outside": len(stages.outside.entries),
        "inside": len(stages.inside.entries),
        "never": len(stages.never),
    }
    assert found == {**dict.fromkeys(found, 0), stage: 1}
    assert stages.idle == (stage == "inside")
    assert [e.id for e in stages.inside.composed] == [e.id for e in stages.inside.entries]


def test_a_profile_without_connection_faults_stays_itself() -> None:
    profile = session("latency: {ms: 1}").profile
    assert divide(profile).inside is profile


def test_a_host_counts_as_what_it_is_known_for() -> None:
    context = session("tls_failure: {}")
    assert connect(context).flaw == "expired"
    assert connect(context, "bedrock-runtime.eu-west-1.amazonaws.com").flaw == "expired"
    for other in ("elsewhere.test", "localhost", "s3.amazonaws.com"):
        made = connect(context, other)
        assert (made.flaw, made.judged) == (None, False)
    named = session("{tls_failure: {}, on: {host: elsewhere.test}}")
    assert connect(named, "elsewhere.test").flaw == "expired"


def test_what_is_matched_by_what_comes_later_reports_that() -> None:
    (line,) = connect(session(also=(late(DnsFailure(), path="/v1/x", kind="llm"),))).ledger()
    assert line.outcome == "inapplicable"
    assert line.reason == "`path` is not known when a connection is made: match it with `host`"
    elsewhere = session(also=(late(DnsFailure(), path="/v1/x", host="other.test"),))
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
    assert made.ledger()[1].reason == "`dns_failure` ended the exchange first"
    assert made.exchange.number == 1
    assert made.exchange.kind == "other"


def test_a_tls_flaw_counts_only_when_the_client_saw_it() -> None:
    made = connect(session("tls_failure: {reason: untrusted}"))
    assert made.judged
    assert (made.ledger()[0].outcome, made.ledger()[0].effect) == ("no_effect", None)
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


def test_faults_of_a_tunnel_take_nothing_from_the_requests_in_it() -> None:
    context = session("{refuse: {}, on: {host: api.openai.com}, trigger: {calls: [99]}}")
    made = connect(context)
    assert made.judged
    assert made.answer is None
    assert made.ledger()[0].outcome == "skipped"
    inner = replace(
        made.exchange, request=replace(made.exchange.request, method="GET", path="/"), key="other"
    )
    assert context.state.identify(inner).n == 0


def test_a_tunnel_that_nobody_meant_is_no_call() -> None:
    context = session("{refuse: {}, on: {host: api.openai.com}}")
    for _ in range(2):
        made = connect(context, "elsewhere.test")
        assert not made.judged
        assert (made.exchange.n, made.exchange.number, made.effect, made.ledger()) == (0, 0, "", ())
    assert context.state.number() == 1


@pytest.mark.parametrize(
    ("on", "met"),
    [
        ("kind: llm", True),
        ("kind: other, host: '*'", False),
        ("provider: openai", True),
        ("provider: anthropic", False),
        ("host: '*', session: s", True),
        ("host: '*', session: other", False),
    ],
)
def test_a_tunnel_is_matched_by_what_its_host_shows(on: str, met: bool) -> None:
    assert (connect(session(f"{{tls_failure: {{}}, on: {{{on}}}}}")).flaw is not None) is met


def test_a_tunnel_has_its_instant_and_a_key_of_host_and_port() -> None:
    profile = session("{tls_failure: {}, on: {host: '*'}}").profile
    for began, at_s in ((5.0, 2.5), (7.0, 0.5), (9.0, 0.0)):
        context = SessionContext("s", profile, Dice(1, "s"), SessionState(), lambda: 7.5, began)
        exchange = connect(context).exchange
        assert exchange.at_s == at_s
        assert context.state.begun("tls_failure") == (1, at_s)
        plain = Request("CONNECT", "https", "api.openai.com", 443, ":443")
        assert exchange.key == wire.fingerprint(plain, "other")


def test_a_fault_for_another_exchange_is_not_counted_in_a_tunnel() -> None:
    context = session("{tls_failure: {}, on: {host: '*'}}")
    context.state.only = 5
    made = connect(context)
    assert made.flaw is None
    assert [line.reason for line in made.ledger()] == ["the fault is for another exchange"]
    assert context.state.counts("tls_failure") == (0, 0)


def test_a_flaw_that_the_client_ignores_makes_no_retry() -> None:
    context = session("{tls_failure: {}, on: {host: '*'}}")
    made = connect(context)
    made.ignored("went on all the same")
    assert (made.ledger()[0].outcome, made.ledger()[0].effect) == ("fired", "went on all the same")
    assert (connect(context).exchange.n, connect(context).exchange.attempt) == (1, 0)


def test_an_entry_that_can_never_match_a_connection_has_a_ledger_line() -> None:
    never = {"model": "m", "path": "/v1/x"}
    context = session(
        "{refuse: {}, on: {host: api.openai.com}, trigger: {calls: [2]}}",
        also=(
            late(DnsFailure(), **never, session="s", provider="openai"),
            late(DnsFailure(), "dns_failure#2", **never, session="other"),
            late(DnsFailure(), "dns_failure#3", **never, provider="anthropic"),
        ),
    )
    told = []
    for _ in range(3):
        made = connect(context)
        (line,) = [one for one in made.ledger() if one.outcome == "inapplicable"]
        assert line.key == made.exchange.key
        assert line.reason == "`model`, `path` is not known when a connection is made: match it with `host`"
        told.append((line.id, line.n, line.attempt))
    assert told == [("dns_failure", 0, 0), ("dns_failure", 1, 0), ("dns_failure", 1, 1)]
