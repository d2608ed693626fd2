from __future__ import annotations

from tests.unit.lineage.conftest import Wire, call, said

from faultwire.lineage.conversation import Conversation
from faultwire.lineage.evidence import Evidence
from faultwire.lineage.model import Part
from faultwire.lineage.parts import Text


def test_a_message_that_only_the_agent_wrote_is_no_history(wire: Wire) -> None:
    question = {"role": "user", "content": "What is it?"}
    wire.ask([question], said("It is a river."))
    wire.ask([question], said("It is a lake."))
    assert wire.edges() == []


def test_an_answer_that_the_agent_rewrote_is_no_history(wire: Wire) -> None:
    question = {"role": "user", "content": "What is it?"}
    wire.ask([question], said("It is a river in the north."))
    wire.ask([question, said("It is a brook in the south.")], said("Yes."))
    assert wire.edges() == []


def test_a_call_that_is_repeated_with_other_blanks_is_the_same(wire: Wire) -> None:
    question, made = {"role": "user", "content": "What?"}, call("f", "call_1a2b3c4d", x="y")
    wire.ask([question], said(None, made))
    again = {**made, "function": {"name": "f", "arguments": '{"x":"y"}'}}
    wire.ask([question, said(None, again)], said("Yes."))
    assert wire.edges() == [(1, 2, "history")]


def test_a_short_answer_needs_the_tools_name() -> None:
    for name, edges in (("the result of `clock`", 1), ("the result of `other`", 0)):
        conversation = Conversation(Evidence())
        conversation._wholes["21"] = [(Part(1, "answer", "the body"), "clock")]
        conversation.printed(Text(Part(2, "request", name), ("21",), "21"))
        assert len(conversation.evidence.edges()) == edges
