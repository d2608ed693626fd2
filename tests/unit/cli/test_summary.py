from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from faultwire.cli._summary import REJECTED, SHOWN, header, named, refusals, rejected, summary, unreached
from faultwire.events import Delivery, FaultFired, History, Recorded, Request
from faultwire.profile.model import Profile


def exchange(number: int, kind: str = "llm", host: str = "api.openai.com", **more: object) -> Recorded:
    settings: dict[str, object] = {
        "session": "exec", "number": number, "kind": kind, "protocol": None, "provider": None, "tool": None,
        "request": Request("POST", "https", host, 443, "/v1"), "upstream": None, "delivered": None,
        "ending": "complete", "error": None, "attempt": 0, "started_ms": 0, "duration_ms": 1.0, **more,
    }  # fmt: skip
    return Recorded(**settings)  # type: ignore[arg-type]


def fault(outcome: str = "fired", **more: object) -> FaultFired:
    settings: dict[str, object] = {
        "fault": "status", "id": "status", "site": "response", "outcome": outcome, "reason": "call 1 matches",
        "key": "k", "n": 0, "attempt": 0, **more,
    }  # fmt: skip
    return FaultFired(**settings)  # type: ignore[arg-type]


def test_it_counts_exchanges_by_kind_and_lists_fired_faults() -> None:
    history = History(
        "exec",
        (
            exchange(1, faults=(fault(effect="answered 503"), fault("skipped"))),
            exchange(2, "tool"),
            exchange(3, faults=(fault(id="tool_error", subject="search", effect="replaced it"),)),
        ),
    )
    assert summary(history, "t.tape", "abc").splitlines() == [
        "exchanges  3: 2 llm, 1 tool",
        "faults     2 fired",
        "  #1 llm  status: answered 503",
        "  #3 llm  tool_error of `search`: replaced it",
        "tape       t.tape",
        "ledger: abc",
    ]


def test_a_void_run_is_called_one_with_its_reasons() -> None:
    why = ("the tape cannot be written: database or disk is full", "faultwire failed")
    void = summary(History("exec", (exchange(1),), voids=why), "t.tape", "abc").splitlines()
    assert void[1] == f"void       the run proves nothing: {why[0]}; {why[1]}"
    whole = summary(History("exec", (exchange(1),)), "t.tape", "abc").splitlines()
    assert whole == [void[0], *void[2:]]


def test_each_entry_that_never_fired_has_its_reasons() -> None:
    no_stream = fault("inapplicable", id="cut_stream", reason="the request asks for no stream")
    also = fault("inapplicable", id="slow_tokens", reason="the request asks for no stream")
    rolled = fault("skipped", id="status", reason="rolled 0.3 or more")
    changed = fault("no_effect", id="status", reason="rolled under 0.3")
    run = (exchange(1, faults=(no_stream, also, rolled)), exchange(2, faults=(no_stream, changed)))
    entries = ("cut_stream", "slow_tokens", "status", "tool_error")
    lines = summary(History("exec", run), "t.tape", "abc", entries=entries).splitlines()
    assert lines[1:-2] == [
        "faults     0 fired",
        "  `cut_stream` never fired: the request asks for no stream",
        "  `slow_tokens` never fired: the request asks for no stream",
        "  `status` never fired: by chance it was not to act on the other calls (`probability: 0.3`); "
        "where it was to act, there was nothing for it to change",
        "  `tool_error` never fired: no exchange matched",
        "  another `--seed` rolls anew",
    ]
    some = (*run, exchange(3, faults=(fault(effect="answered 503"),)))
    assert summary(History("exec", some), "t.tape", "abc", entries=entries).splitlines()[1:-2] == [
        "faults     1 fired",
        "  #3 llm  status: answered 503",
        "  `cut_stream` never fired: the request asks for no stream",
        "  `slow_tokens` never fired: the request asks for no stream",
        "  `tool_error` never fired: no exchange matched",
    ]
    every = History("exec", (exchange(1, faults=tuple(fault(id=entry) for entry in entries)),))
    for history in (every, History("exec", ())):
        assert "never fired" not in summary(history, "t.tape", "abc", entries=entries)


def test_a_run_of_many_faults_names_the_first_and_where_the_rest_is() -> None:
    many = (exchange(n, faults=(fault(effect=f"waited {n} ms"),)) for n in range(SHOWN + 5))
    lines = summary(History("exec", tuple(many)), "t.tape", "abc").splitlines()
    assert lines[2] == "  #0 llm  status: waited 0 ms"
    assert lines[-3] == "  and 5 more: `faultwire tape show t.tape`"
    fits = History("exec", tuple(exchange(n, faults=(fault(),)) for n in range(SHOWN)))
    assert "more: `faultwire tape show" not in summary(fits, "t.tape", "abc")


def test_of_many_faults_those_that_are_alike_stand_in_one_line() -> None:
    """2,013 attempts a minute are no list of twenty lines that say the same."""
    alike = [exchange(n, faults=(fault(effect="answered 503"),)) for n in range(1, 2014)]
    other = exchange(2014, "tool", faults=(fault(id="tool_error", effect="timed out"),))
    assert summary(History("exec", (*alike, other)), "t.tape", "abc").splitlines()[:4] == [
        "exchanges  2,014: 2,013 llm, 1 tool",
        "faults     2,014 fired",
        "  #1, #2, #3, #4, #5, #6, … llm  status: answered 503 (2,013 times)",
        "  #2014 tool  tool_error: timed out",
    ]
    few = summary(History("exec", tuple(alike[:SHOWN])), "t.tape", "abc")
    assert " times)" not in few
    assert few.count("answered 503") == SHOWN


def asked(number: int, body: bytes, status: int = 503, **more: object) -> Recorded:
    """A call that one after the other is begun and ends."""
    got = Delivery(status, "", (), b"{}")
    request = Request("POST", "https", "api.openai.com", 443, "/v1", (), body)
    times = {"started_ms": number * 1000, "upstream": None, "delivered": got}
    faults = (fault(effect="answered 503"),) if status == 503 else ()
    return exchange(number, **({"request": request, "faults": faults} | times | more))


def faults_line(*exchanges: Recorded) -> str:
    return summary(History("exec", exchanges), "t", "abc").splitlines()[1]


def test_faults_on_the_attempts_of_one_call_are_counted_apart() -> None:
    one = [asked(number, b"a", started_ms=number * 1000) for number in (1, 2, 3, 4)]
    assert faults_line(*one) == "faults     4 fired, on 4 attempts of 1 call"
    assert faults_line(*one[:3], asked(4, b"b")) == "faults     4 fired, on 4 attempts of 2 calls"
    different = [asked(number, b"%d" % number) for number in (1, 2, 3, 4)]
    assert faults_line(*different) == "faults     4 fired"
    answered_between = [asked(1, b"a", 200), asked(2, b"a"), asked(3, b"b")]
    assert faults_line(*answered_between) == "faults     2 fired"


def test_where_it_is_not_known_which_are_attempts_none_are_counted() -> None:
    """Both were sent at the same moment, on connections of which nothing is known."""
    twice = [asked(number, b"a", started_ms=1000, duration_ms=0.0) for number in (1, 2)]
    assert faults_line(*twice) == "faults     2 fired"


def test_a_tunnel_that_faults_were_decided_on_is_no_call() -> None:
    connect = Request("CONNECT", "https", "api.openai.com", 443, "")
    tunnel = exchange(1, request=connect, faults=(fault(id="stall_window", effect="let it stand still"),))
    assert summary(History("exec", (tunnel, exchange(2))), "t", "abc").splitlines()[:3] == [
        "exchanges  2: 1 tunnel, 1 llm",
        "faults     1 fired",
        "  #1 tunnel  stall_window: let it stand still",
    ]
    assert "tunnel" not in summary(History("exec", (exchange(2),)), "t", "abc")


def test_findings_are_listed_with_the_report() -> None:
    noticed = [
        {"action": "Ask again.", "evidence": [{"exchanges": [1, 2], "words": "half an answer"}]},
    ]
    lines = summary(
        History("exec", (exchange(1),)), "t.tape", "abc", report=Path("r.html"), noticed=noticed
    ).splitlines()
    assert lines[2:] == [
        "noticed    1, by the traffic and the exit code: what the command printed is not read",
        "  #1, #2  half an answer",
        "      Ask again.",
        "report     r.html",
        "tape       t.tape",
        "ledger: abc",
    ]


def test_of_many_exchanges_of_a_finding_the_first_are_named_and_that_there_are_more() -> None:
    def where(count: int) -> str:
        evidence = [{"exchanges": list(range(1, count + 1)), "words": "12 attempts"}]
        noticed = [{"action": "Limit it.", "evidence": evidence}]
        return summary(History("exec", ()), "t", "abc", noticed=noticed).splitlines()[3]

    assert where(6) == "  #1, #2, #3, #4, #5, #6  12 attempts"
    assert where(12) == "  #1, #2, #3, #4, #5, #6, …  12 attempts"


def answered(number: int, status: int, body: bytes = b"{}", **more: object) -> Recorded:
    got = Delivery(status, "", (("content-type", "application/json"),), body)
    settings: dict[str, object] = {"protocol": "openai_chat", "provider": "openai", "upstream": got}
    return exchange(number, **(settings | {"delivered": got} | more))  # type: ignore[arg-type]


WRONG = b'{"error": {"message": "max_tokens must be positive", "type": "invalid_request_error"}}'


def test_errors_that_a_server_answered_by_itself_are_named_with_its_reason() -> None:
    assert rejected(
        [answered(1, 200), answered(2, 400, WRONG), answered(3, 400, WRONG), answered(4, 404)]
    ) == [
        "#2, #3 `api.openai.com/v1` answered 400, which no fault made: `max_tokens must be positive`",
        "#4 `api.openai.com/v1` answered 404, which no fault made",
    ]
    many = [answered(n, 400 + n) for n in range(REJECTED + 2)]
    assert rejected(many)[-1] == "and 2 other errors of servers"


def test_of_an_error_behind_a_fault_it_is_only_said_that_none_acted_on_it() -> None:
    broken = answered(1, 200, faults=(fault(effect="arguments cut"),))
    acted = "#2 `api.openai.com/v1` answered 400, on which no fault acted: `max_tokens must be positive`"
    assert rejected([broken, answered(2, 400, WRONG, started_ms=broken.started_ms + 5000)]) == [acted]
    beside = rejected([broken, answered(2, 400, WRONG, started_ms=broken.started_ms)])
    assert beside == [acted.replace("on which no fault acted", "which no fault made")]
    again = fault("reapplied", effect="poisoned")
    assert rejected([broken, answered(2, 400, WRONG, started_ms=5000, faults=(again,))]) == []


def test_an_error_on_a_path_that_a_provider_does_not_have_is_named() -> None:
    nothing = Request("POST", "https", "api.openai.com", 443, "/v1/no/such/thing")
    unknown = answered(1, 404, kind="other", provider=None, protocol=None, request=nothing)
    assert rejected([unknown]) == ["#1 `api.openai.com/v1/no/such/thing` answered 404, which no fault made"]


def test_errors_that_a_fault_or_the_proxy_made_are_not_the_servers() -> None:
    fired = answered(1, 400, WRONG, faults=(fault(effect="answered 400"),))
    injected = answered(2, 503, upstream=answered(2, 200).upstream)
    local = answered(3, 403, ending="refused", error="`localhost` is a loopback address", upstream=None)
    page = answered(4, 404, kind="other", provider=None, protocol=None, host="example.com")
    traces = answered(5, 404, request=Request("POST", "https", "api.openai.com", 443, "/v1/traces/ingest"))
    assert rejected([fired, injected, local, page, traces]) == []


def test_a_run_without_traffic_is_reported() -> None:
    assert summary(History("exec", ()), "t", "abc").splitlines()[:2] == ["exchanges  0", "faults     0 fired"]


def test_refused_servers_are_named_once_with_the_reason() -> None:
    why = "`localhost` is a loopback address; to allow it, add `--allow-host localhost`"
    refused = [exchange(n, "other", "localhost", ending="refused", error=why) for n in (1, 2)]
    other = exchange(3, ending="refused", error="upstream is down")
    assert refusals([*refused, other, exchange(4)]) == [
        "refused 1 call to api.openai.com:443: upstream is down",
        f"refused 2 calls to localhost:443: {why}",
    ]


def test_servers_that_were_not_reached_are_reported_once_each() -> None:
    why = "`a.example` was not reached: Name or service not known"
    ours = Delivery(502, "", (), b"{}")
    gone = [
        exchange(n, "other", "a.example", ending="upstream_aborted", error=why, upstream=None, delivered=ours)
        for n in (1, 2)
    ]
    closed = "`b.example` did not answer: the server closed the connection"
    silent = exchange(
        5, "other", "b.example", ending="upstream_aborted", error=closed, upstream=None, delivered=ours
    )
    cut = exchange(3, ending="upstream_aborted", error="the server closed the connection")
    assert unreached([*gone, cut, exchange(4), silent]) == [
        f"502 for 2 calls to a.example:443: {why}; check the name, and that this machine reaches it",
        f"502 for 1 call to b.example:443: {closed}",
    ]


def test_a_profile_is_named_with_its_place_and_digest() -> None:
    assert (
        named(Profile(name="x", path="p.yaml", digest="0123456789abcdef"))
        == "x (p.yaml, sha256 0123456789ab)"
    )
    assert named(Profile(name="none")) == "none: traffic is recorded and not changed"


@pytest.mark.parametrize(
    ("replay", "profile", "expected"),
    [
        (None, Profile(name="calm"), {"profile": "none: traffic is recorded and not changed"}),
        ("monday", Profile(name="calm"), {"mode": "replay from monday"}),
        (
            "monday",
            Profile(name="chaos", path="chaos.yaml", digest="ab" * 32),
            {"mode": "replay from monday", "profile": "chaos (chaos.yaml, sha256 abababababab)"},
        ),
    ],
)
def test_the_header_names_the_profile_or_the_replayed_tape(
    replay: str | None, profile: Profile, expected: dict[str, str]
) -> None:
    folder = SimpleNamespace(id="r1")
    run: Any = SimpleNamespace(
        folder=folder, routes=(), base_urls=False, tape=Path("run.tape"), upstream=(), space=None
    )
    traffic: Any = SimpleNamespace(seed=7, replay=replay, reverse=(), allow_host=(), mock_except=())
    lines = dict(text.split(maxsplit=1) for text in header(run, profile, traffic).splitlines())
    assert lines.pop("faultwire").endswith("run r1")
    assert lines == {**expected, "seed": "7", "tape": "run.tape"}


def test_the_header_names_what_is_mocked_routed_and_allowed() -> None:
    plan = SimpleNamespace(routes={"OPENAI_BASE_URL": "http://127.0.0.1:1/openai"})
    run: Any = SimpleNamespace(
        folder=SimpleNamespace(id="r1"), routes=("api.openai.com", "a", "b"), base_urls=True, plan=plan,
        space=SimpleNamespace(ports=(80, 443), families="IPv4 and IPv6"),
        tape=Path("run.tape"), upstream=("proxy.example:3128",),
    )  # fmt: skip
    traffic: Any = SimpleNamespace(
        seed=7, replay=None, reverse=[("shop", "http://127.0.0.1:2")], allow_host=("localhost",),
        mock_except=("api.search.example",),
    )  # fmt: skip
    lines = header(run, Profile(name="calm"), traffic).splitlines()
    assert [" ".join(line.split()) for line in lines[4:]] == [
        "mock api.openai.com and 2 other hosts",
        "not mocked api.search.example",
        "through proxy.example:3128",
        "base URL shop → http://127.0.0.1:2",
        "capture base URLs of OPENAI_BASE_URL",
        "capture network namespace, ports 80, 443, IPv4 and IPv6",
        "allowed localhost",
    ]
