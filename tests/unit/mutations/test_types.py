"""Each built-in type does what its name says."""

import base64
import re

import pytest

from faultwire.dice import Dice
from faultwire.errors import ConfigError
from faultwire.mutations._api import Draft, Mutant, filled
from faultwire.mutations._attacks import ATTACKS
from faultwire.mutations._network import NETWORK
from faultwire.mutations._request import RequestChange
from faultwire.mutations._text import replaced, some, spans, uncapitalised
from faultwire.mutations.context_manipulation import ContextManipulation
from faultwire.mutations.custom import Custom
from faultwire.mutations.encoding_attacks import ENCODINGS, EncodingAttacks
from faultwire.mutations.length_extremes import LONGEST, MOST_BYTES, LengthExtremes
from faultwire.mutations.noise import NEIGHBOURS, Noise
from faultwire.mutations.paraphrase import Paraphrase

PROMPT = "What is the capital of France, please?"


def dice(n=0, seed=1):
    return Dice(seed, "mutations").held("type", "key", n)


def drafts(mutation, count=60, prompt=PROMPT):
    return [made for n in range(count) if (made := mutation.draft(prompt, dice(n))) is not None]


def test_paraphrases_keep_names_and_numbers():
    for made in drafts(Paraphrase()):
        assert "France" in made.text
    assert any("please" not in made.text.lower() for made in drafts(Paraphrase()))


def test_noise_is_small():
    for made in drafts(Noise()):
        assert made.text != PROMPT
        assert len(PROMPT) - 20 < len(made.text) < len(PROMPT) + 20
    assert set(NEIGHBOURS) == set("abcdefghijklmnopqrstuvwxyz")


def test_encodings_can_be_read_back():
    assert base64.b64decode(ENCODINGS["Base64"]("Paris")).decode() == "Paris"
    assert ENCODINGS["Unicode escapes"]("é🫠") == "\\u00e9\\ud83e\\udee0"
    assert ENCODINGS["percent-encoding"]("a b") == "a%20b"
    assert ENCODINGS["percent-encoding"]("ab") == "%61%62"
    assert ENCODINGS["ROT13"]("Paris") == "Cnevf"
    assert ENCODINGS["homoglyphs"]("Paris") != "Paris"
    assert {made.how.split(" of ")[0] for made in drafts(EncodingAttacks(), 300)} == set(ENCODINGS)


def test_context_comes_beside_the_prompt():
    ways = {
        made.how.split(" ")[-1] if "words" in made.how else made.how for made in drafts(ContextManipulation())
    }
    assert {"irrelevant context", "contradictory context"} <= ways
    assert ContextManipulation().draft("Hi", dice(0)) is None or drafts(ContextManipulation(), 40, "Hi")


def test_lengths_are_extreme_and_bounded():
    sizes = [len(made.text) for made in drafts(LengthExtremes(), 200)]
    assert min(sizes) < 3
    assert 10_000 < max(sizes) <= LONGEST


def test_the_longest_in_any_writing_still_fits_an_argument_of_a_program():
    prompt = "フランスの首都はどこですか。"
    made = [LengthExtremes().draft(prompt, dice(number)) for number in range(300)]
    sizes = [len(one.text.encode()) for one in made]
    assert 100_000 < max(sizes) <= MOST_BYTES < 131_072
    assert all(one.text.endswith(prompt) for one in made if "filler" in one.how)


def test_a_custom_template_is_taken_literally():
    made = Custom({"t": "{a} {prompt} %s"}).draft("{b}", dice())
    assert made == Draft("{a} {b} %s", "template t")
    with pytest.raises(ConfigError, match=r"found no `.prompt.` in the custom template `t`"):
        Custom({"t": "no place"})


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
def test_every_frame_has_its_place_and_its_words(attack):
    for frame in attack.frames:
        assert frame.count("{prompt}") == 1
        assert set(re.findall(r"\{(\w+)\}", frame)) <= {"prompt", *attack.words}
    used = "".join(attack.frames)
    assert all(f"{{{word}}}" in used for word in attack.words)


@pytest.mark.parametrize("attack", NETWORK, ids=lambda attack: attack.name)
def test_a_network_attack_changes_the_request_and_has_words_for_others(attack):
    for made in drafts(attack()):
        assert made.request != RequestChange()
        assert made.text != PROMPT
        assert "{what}" not in made.text
        mutant = Mutant(attack.name, PROMPT, made.text, made.how, 1.0, made.request)
        assert (mutant.prompt(http=True), mutant.prompt(http=False)) == (PROMPT, made.text)


def test_changes_are_put_into_words():
    assert str(RequestChange(method="FOO", copies=2)) == "method 'FOO', copies 2"
    assert str(RequestChange()) == "nothing"


def test_a_text_is_sent_as_text_everywhere():
    assert Mutant("noise", "a", "b", "how").prompt(http=True) == "b"


def test_the_parts():
    assert spans("ab c déf", 2) == [(0, 2), (5, 8)]
    assert some(5, 2, dice(), "x") == sorted(some(5, 2, dice(), "x"))
    assert uncapitalised("What is it") == "what is it"
    assert uncapitalised("NASA is it") == "NASA is it"
    assert filled("{a} {prompt}", "{a}", {"a": ("x",)}, dice()) == "x {a}"
    assert any(replaced("Please!", {"please": ("kindly",)}, dice(n)) == ("Kindly!", 1) for n in range(20))
