"""A case as a profile, and as a file."""

from __future__ import annotations

import json

from faultwire.fuzz.case import Case, Part, Step, Target, read
from faultwire.profile.load import parse

CASE = Case(
    (
        Part(Target("prompt", "1"), "given", "hi", (Step("noise", 0, "x"),)),
        Part(Target("result", "order", 2), "seen", '{"a": \ufeff"ü"}'),
        Part(Target("message", "tools/call search"), "usual", '{"id": "{id}"}\n{"x": 1}'),
        Part(Target("message", "tools/list"), "usual", "[]"),
        Part(Target("answer", "model", 2), "seen", '{"choices": []}'),
    )
)


def test_each_part_on_the_wire_is_an_entry_at_its_call():
    entries = {entry.id: entry for entry in parse(CASE.as_yaml, "x").entries}
    assert set(entries) == {"fuzz-2", "fuzz-3", "fuzz-4", "fuzz-5"}, "a prompt is no traffic"
    assert entries["fuzz-2"].fault.responses[0].text == '{"a": \ufeff"ü"}'
    assert entries["fuzz-2"].trigger.calls == (2,)
    assert entries["fuzz-3"].fault.messages == ('{"id": "{id}"}', '{"x": 1}')
    assert entries["fuzz-5"].fault.body == '{"choices": []}'
    assert (entries["fuzz-5"].on.kind, entries["fuzz-5"].trigger.calls) == ("llm", (2,))
    assert CASE.parts[4].target.text == "answer of the model, call 2"
    assert (entries["fuzz-3"].fault.methods, entries["fuzz-4"].fault.methods) == ("tools/call", "tools/list")


def test_a_file_holds_all_of_it():
    assert read(json.loads(json.dumps(CASE.as_json()))) == CASE


def test_the_id_is_of_texts_and_targets_alone():
    other = Case(tuple(reversed(CASE.parts)))
    assert other.id == CASE.id
    assert CASE.without(Target("prompt", "1")).id != CASE.id
    assert CASE.with_part(Part(Target("prompt", "1"), "given", "ho")).id != CASE.id


def test_a_profile_without_traffic_is_the_users():
    base = parse("name: mine\nfaults: []", "mine")
    assert Case(CASE.parts[:1]).profile(base) is base
    assert len(CASE.profile(base).entries) == 4
