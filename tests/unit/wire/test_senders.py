from __future__ import annotations

from dataclasses import replace

import pytest
from tests.unit.lineage.conftest import Wire

from faultwire.profile.model import AgentSite
from faultwire.wire.senders import (
    NO_MARK,
    NOBODY_DECLARED,
    Mark,
    instructions_of,
    marks_of,
    sender,
)


def asked(system: str, *, role: str = "system"):
    wire = Wire()
    wire.ask(
        [{"role": role, "content": system}, {"role": "user", "content": "go"}],
        {"role": "assistant", "content": "x"},
    )
    return wire.exchanges[0]


def test_all_header_fields_of_a_mark_must_be_there() -> None:
    mark = Mark("a", (("x-team", "blue"), ("x-role", "e*")))
    assert mark.on((("X-Team", "blue"), ("x-role", "edit")), None)
    assert not mark.on((("x-team", "blue"),), None)
    assert not mark.on((("x-team", "red"), ("x-role", "edit")), None)


def test_header_fields_and_instructions_must_both_fit() -> None:
    (mark,) = marks_of({"a": AgentSite(caller={"x-team": "blue"}, instructions=("You write*", "You edit*"))})
    assert mark.on((("x-team", "blue"),), "You edit texts")
    assert not mark.on((("x-team", "blue"),), "You plan")
    assert not mark.on((("x-team", "blue"),), None)
    assert not mark.on((), "You edit texts")


def test_an_agent_without_marks_sends_nothing_that_is_known() -> None:
    assert marks_of({"a": AgentSite(url="http://a.test/*")}) == ()


@pytest.mark.parametrize("role", ["system", "developer"])
def test_the_instructions_of_a_request_to_a_model(role: str) -> None:
    assert instructions_of(asked("You are the editor.", role=role)) == "You are the editor."


def test_what_is_no_readable_request_to_a_model_has_no_instructions() -> None:
    one = asked("You are the editor.")
    for other in (
        replace(one, kind="tool"),
        replace(one, protocol=None),
        replace(one, request=replace(one.request, body=b"{")),
        replace(one, request=replace(one.request, body=None)),
    ):
        assert instructions_of(other) is None


def test_a_sender_is_who_alone_bears_a_mark() -> None:
    one = asked("You are the editor.")
    editor, anybody = Mark("editor", (), ("You are the editor*",)), Mark("anybody", (), ("You are*",))
    assert sender((editor,), one) == ("editor", "")
    assert sender((editor, anybody), one) == (None, "the marks of anybody and editor fit")
    assert sender((Mark("x", (), ("nothing",)),), one) == (None, NO_MARK)
    assert sender((), one) == (None, NOBODY_DECLARED)
