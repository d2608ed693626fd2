"""Cases are made of a base and steps, and the same steps make the same text again."""

from __future__ import annotations

import json

from tests.unit.fuzz.simulated import SOURCE

from faultwire.fuzz.case import Case, Part, Target
from faultwire.fuzz.corpus import Corpus
from faultwire.fuzz.grammar import GENERATED, Source, child, made_again, step

PROMPT = Source(Target("prompt", "1"), {"given": "Where is order 7?"})
SCHEMA = {"type": "object", "properties": {"total": {"type": "number"}}, "required": ["total"]}
TYPED = Source(Target("result", "order"), {"seen": '{"total": 1}'}, SCHEMA)
MESSAGES = Source(Target("message", "tools/call order"), {"two": '{"a": 1}\n{"b": "x"}'})


def test_every_case_of_a_search_can_be_made_again_from_its_steps_and_its_seed():
    corpus = Corpus((SOURCE, PROMPT, MESSAGES), 3)
    sources = {one.target: one for one in corpus.sources}
    other = 0
    for number in range(80):
        case, parent = corpus.next(number)
        corpus.learn(case, parent, number % 3 == 0)
        for part in case.parts:
            assert made_again(part, sources[part.target], 3) == part
            other += made_again(part, sources[part.target], 4) != part
    assert other > 40, "the control: another seed makes other texts"


def test_prompts_have_the_types_of_mutation_and_damage_that_an_argument_can_carry():
    assert {"noise", "long", "prompt_injection"} <= set(PROMPT.changes)
    for change in PROMPT.changes:
        for throw in range(6):
            made = step(PROMPT.first("given"), PROMPT, change, throw, 1)
            assert made is None or ("\0" not in made.text and made.text != "Where is order 7?")


def test_a_value_of_the_schema_is_generated_and_known_as_valid():
    assert GENERATED in TYPED.changes
    assert GENERATED not in SOURCE.changes
    made = step(TYPED.first("seen"), TYPED, GENERATED, 0, 1)
    assert isinstance(json.loads(made.text)["total"], float)
    assert TYPED.validity(made.text) == "valid"
    assert TYPED.validity('{"total": "1"}') == "invalid"
    assert SOURCE.validity("{}") == "unknown"


def test_one_of_several_messages_is_damaged_and_each_keeps_its_line():
    texts = {
        made.text
        for change in MESSAGES.changes
        for throw in range(8)
        if (made := step(MESSAGES.first("two"), MESSAGES, change, throw, 1))
    }
    assert all(text.count("\n") == 1 for text in texts)
    assert any(text.startswith('{"a": 1}\n') for text in texts)
    assert any(text.endswith('\n{"b": "x"}') for text in texts)


def test_an_answer_is_damaged_in_its_calls_arguments_and_a_stream_event_by_event():
    whole = Source(
        Target("answer", "model"), {"seen": '{"tool_calls": [{"arguments": "{\\"order\\": 7}"}], "n": 1}'}
    )
    inside = step(whole.first("seen"), whole, "inner_wrong_type", 0, 1)
    assert json.loads(inside.text)["n"] == 1
    assert inside.steps[0].how.endswith("inside of $.tool_calls[0].arguments")
    stream = Source(
        Target("answer", "model"), {"seen": 'data: {"a": "x"}\n\ndata: {"b": 1}\n\ndata: [DONE]\n\n'}
    )
    texts = {
        made.text
        for change in stream.changes
        for throw in range(8)
        if (made := step(stream.first("seen"), stream, change, throw, 1))
    }
    assert len(texts) > 20
    assert all(text.count("\n") == 6 and text.endswith("data: [DONE]\n\n") for text in texts)


def test_a_second_change_goes_on_where_the_first_ended():
    one = child(Case(), SOURCE, "seen", "null", 0, 1)
    two = child(one, SOURCE, "seen", "wrong_type", 0, 1)
    assert [step.change for step in two.parts[0].steps] == ["null", "wrong_type"]
    assert made_again(Part(SOURCE.target, "gone", "x"), SOURCE, 1) is None
