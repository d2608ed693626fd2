from __future__ import annotations

from faultwire.faults.model.wrong_values import WrongValues


def test_the_facts_change(model, said):
    view, effect, _ = model(WrongValues(), said("It costs 120 euros since 2024-05-01."))
    assert view.text.startswith("It costs ")
    assert "120" not in view.text
    assert "2024-05-01" not in view.text
    assert effect == "values in the text changed"


def test_words_without_facts_are_left_alone(model, answer):
    _, effect, raw = model(WrongValues(), answer)
    assert (effect, raw) == (None, answer)


def test_tool_calls_stay(model, calling):
    assert model(WrongValues(), calling)[0].tool_calls[0].arguments == '{"city": "Paris", "days": 5}'
