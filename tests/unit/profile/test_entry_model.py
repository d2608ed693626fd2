"""`profile.entry_model`: what a decision reads of an entry is what the entry says."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
from tests.property.test_never_fires import SETTINGS

from faultwire.events import Exchange, Request
from faultwire.faults import _registry
from faultwire.faults._api import Fault, RequestFault, ResultFault
from faultwire.profile.entry_model import Entry, On, Recovery, Stage, Trigger, compiled
from faultwire.wire.registry import protocols

NAMES = sorted(_registry.registry())
KINDS = ("llm", "tool", "agent", "other")
PROTOCOLS = (None, *protocols())


def entry_of(name: str, **more: Any) -> Entry:
    fault = _registry.registry()[name].model_validate(SETTINGS.get(name, {}))
    return Entry(id="one", fault=fault, **more)


@pytest.mark.parametrize("name", NAMES)
def test_what_a_fault_cannot_act_on_is_the_same_in_the_same_words(name: str) -> None:
    entry, refused = entry_of(name), 0
    for kind, protocol in product(KINDS, PROTOCOLS):
        request = Request("POST", "https", "api.example.com", 443, "/v1/chat/completions", (), b"{}")
        one = Exchange("s", 1, request, kind, protocol, tool="search")  # type: ignore[arg-type]
        wanted = entry.fault.inapplicable(one)
        assert compiled(entry).inapplicable(one) == wanted
        refused += wanted is not None
    limited = entry.fault.kinds or entry.fault.protocols
    assert refused or not limited, "the control: something is refused where a fault is limited"


@pytest.mark.parametrize("name", NAMES)
def test_what_it_says_of_a_fault_is_true(name: str) -> None:
    entry, fault = entry_of(name), entry_of(name).fault
    one = entry.compiled
    assert one is entry.compiled, "made once"
    assert (one.id, one.name, one.site, one.settings) == ("one", fault.name, fault.site, entry.settings)
    assert one.result is isinstance(fault, ResultFault)
    assert one.conversation is isinstance(fault, RequestFault)
    assert one.watches is (type(fault).watch is not Fault.watch)


def test_some_faults_look_on_and_most_do_not() -> None:
    found = {name for name in NAMES if entry_of(name).compiled.watches}
    assert {"stale_response", "tool_stale"} <= found
    assert not {"status", "latency", "cut_stream"} & found


@pytest.mark.parametrize(
    ("on", "plain"),
    [
        ({}, True),
        ({"kind": "llm"}, True),
        ({"host": "x", "path": "/*", "model": "m*"}, True),
        ({"tool": "search"}, False),
        ({"site": "http"}, False),
        ({"status": 503}, False),
        ({"text": "x"}, False),
        ({"url": "https://*"}, False),
        ({"header": {"a": "b"}}, False),
    ],
)
def test_only_where_all_is_compared_already_the_trigger_alone_decides(
    on: dict[str, Any], plain: bool
) -> None:
    assert entry_of("status", on=On(**on)).compiled.plain is plain
    assert not entry_of("tool_error", on=On(**on)).compiled.plain, "it acts at one of several sites"


def test_every_condition_of_a_trigger_is_there() -> None:
    trigger = Trigger(
        probability=0.5,
        after_calls=1,
        first=9,
        max_times=2,
        every=3,
        calls=(2, 5),
        between_s=(1.0, 2.0),
        stages=(Stage(for_calls=2, probability=0.1),),
        recover_after=Recovery(calls=3),
        attempts="first",
    )
    one = entry_of("status", trigger=trigger).compiled
    names = set(Trigger.model_fields) - {"no_sdk_retry"}
    assert {name: getattr(one, name) for name in names} == {name: getattr(trigger, name) for name in names}
