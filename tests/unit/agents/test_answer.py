import json

import pytest

from faultwire.agents._answer import AnswerPath, Missed, as_text

DOCUMENT = {"choices": [{"message": {"content": "Paris"}}, {"message": None}], "0": "zero", "n": 1.5, "e": ""}


@pytest.mark.parametrize(
    ("path", "answer"),
    [
        ("choices[0].message.content", "Paris"),
        ("$.choices[0].message.content", "Paris"),
        ("choices.0.message.content", "Paris"),
        ("$..content", "Paris"),
        (".choices[-2].message['content']", "Paris"),
        ("0", "zero"),
        ("n", "1.5"),
        ("e", ""),
        ("choices[0].message", '{"content": "Paris"}'),
        ("$", json.dumps(DOCUMENT)),
    ],
)
def test_where_an_answer_stands(path, answer):
    assert AnswerPath(path).find(json.dumps(DOCUMENT)) == answer


def test_a_list_at_the_root():
    assert AnswerPath("[0].text").of([{"text": "a"}]) == "a"
    assert AnswerPath("0.text").of([{"text": "a"}]) == "a"


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("choices[2]", "found no `choices[2]` in an object with `choices`, `0`, `n`, `e`"),
        ("output", "found no `output` in an object with `choices`, `0`, `n`, `e`"),
        ("choices[1].message", "found null at `choices[1].message`, expected an answer"),
        ("e.x", "found no `e.x` in an object"),
    ],
)
def test_a_miss_states_what_is_there_and_never_guesses(path, why):
    with pytest.raises(Missed) as missed:
        AnswerPath(path).of(DOCUMENT)
    assert str(missed.value).startswith(why)


def test_what_is_no_json_is_no_answer():
    for text, why in (
        ("<html>", "found no JSON (`<html>`"),
        ("[" * 100_000, "nested too deeply"),
        ("", "no JSON"),
    ):
        with pytest.raises(Missed, match=why.replace("(", r"\(")):
            AnswerPath("x").find(text)
    with pytest.raises(Missed, match="a list of 2"):
        AnswerPath("x").of([1, 2])


@pytest.mark.parametrize("path", ["", "a[", "a[b]", "a..", "a b"])
def test_what_is_no_path(path):
    with pytest.raises(ValueError, match="found"):
        AnswerPath(path)


def test_other_values_than_texts_are_json():
    assert [as_text(v) for v in ("é", 1, None, ["é"])] == ["é", "1", "null", '["é"]']


@pytest.mark.parametrize(
    ("said", "misplaced"),
    [
        ('{"output": "Paris"}', True),
        ('["Paris"]', True),
        ("Paris", True),
        ('{"error": "out of tokens"}', False),
        ('{"detail": "no such user"}', False),
        ('{"success": false, "output": "x"}', False),
        ('{"answer": null}', False),
        ("{}", False),
        ("[]", False),
        ("", False),
    ],
)
def test_an_answer_in_another_place_is_distinguished_from_a_failure(said, misplaced):
    with pytest.raises(Missed) as missed:
        AnswerPath("answer").find(said)
    assert missed.value.misplaced is misplaced
