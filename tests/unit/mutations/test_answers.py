import pytest

from faultwire.mutations._answers import MOST_CHARS, cleaned, refuses, usable


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ("Which city is it?", "Which city is it?"),
        ('"Which city is it?"', "Which city is it?"),
        ("“Which city is it?”", "Which city is it?"),
        ('Here is the new input: "Which city is it?"', "Which city is it?"),
        ("Sure, here you go:\nWhich city is it?", "Which city is it?"),
        ("Mutated prompt: Which city is it?", "Which city is it?"),
        ("Variant 3: Which city is it?", "Which city is it?"),
        ("```text\nWhich city\nis it?\n```", "Which city\nis it?"),
        ("<think>He wants \"it\".</think>\n\n'Which city is it?'", "Which city is it?"),
        # what belongs to the text stays
        ('"Tea" or "coffee"?', '"Tea" or "coffee"?'),
        ("Book this: a table for two", "Book this: a table for two"),
        ("Here is my order number: ", "Here is my order number:"),
        ("Okay so tell me: which city is it?", "Okay so tell me: which city is it?"),
        ("Here is my question: which city is it?", "Here is my question: which city is it?"),
        ('{"prompt": "tea"}', '{"prompt": "tea"}'),
        ("a\x00b\ud800c", "abc"),
        ("   ", ""),
    ],
)
def test_only_what_stands_around_the_text_goes(answer, text):
    assert cleaned(answer) == text


def test_refusals_are_seen_unless_the_prompt_reads_like_one():
    assert refuses("I'm sorry, but I can't help with that.", "What is the capital of France?")
    assert not refuses("Name France's capital.", "What is the capital of France?")
    assert not refuses("I can't help with that, you say?", "Why do you say: I can't help with that.")


def test_blank_and_endless_texts_are_no_prompts():
    assert usable("x" * MOST_CHARS)
    assert not usable("x" * (MOST_CHARS + 1))
    assert not usable(" \n")
