"""Locales: the right script, numbers and dates as people there write them, and direction marks."""

from __future__ import annotations

import unicodedata

import pytest
from tests.unit.mutations.test_packs import drafts

from faultwire.mutations.packs_locale import PACKS

BY_NAME = {one.name: one for one in PACKS}
PROMPT = "Pay 1,234,567.5 on 2026-03-09."
WRITTEN = {
    "locale_de": "1.234.567,5 on 09.03.2026",
    "locale_fr": "1\u202f234\u202f567,5 on 09/03/2026",
    "locale_es": "1.234.567,5 on 9/3/2026",
    "locale_ja": "1,234,567.5 on 2026/03/09",
    "locale_ar": "١٬٢٣٤٬٥٦٧٫٥ on ٩\u200f/٣\u200f/٢٠٢٦",
    "locale_hi": "12,34,567.5 on 9/3/2026",
}
SCRIPTS = {
    "locale_ja": ("HIRAGANA", "CJK", "KATAKANA"),
    "locale_ar": ("ARABIC",),
    "locale_hi": ("DEVANAGARI",),
}


def share(text, scripts):
    letters = [unicodedata.name(letter, "") for letter in text if letter.isalpha()]
    return sum(name.startswith(scripts) for name in letters) / max(1, len(letters))


@pytest.mark.parametrize("name", WRITTEN)
def test_numbers_and_dates_are_written_as_there(name):
    assert BY_NAME[name].pack.format.written(PROMPT) == (f"Pay {WRITTEN[name]}.", 2)
    assert set(WRITTEN) == set(BY_NAME)


@pytest.mark.parametrize("name", SCRIPTS)
def test_sentences_and_names_are_in_the_right_script(name):
    pack = BY_NAME[name].pack
    texts = [frame.replace("{prompt}", "") for frame in pack.frames]
    texts += [*pack.words["name"], *pack.words["city"], *pack.words["firm"]]
    for text in texts:
        plain = "".join(part.partition("}")[2] if "}" in part else part for part in text.split("{"))
        assert share(plain, SCRIPTS[name]) == 1 or not any(map(str.isalpha, plain)), text
    assert share("Bonjour", SCRIPTS[name]) == 0, "the control"


@pytest.mark.parametrize("name", ["locale_de", "locale_fr", "locale_es"])
def test_latin_locales_have_their_own_letters(name):
    texts = " ".join((*BY_NAME[name].pack.frames, *BY_NAME[name].pack.words["name"]))
    own = {"locale_de": "öüäß", "locale_fr": "éèçï", "locale_es": "íñáú¡¿"}[name]
    assert any(letter in texts for letter in own)
    assert share(texts, ("LATIN",)) == 1


def test_right_to_left_has_balanced_isolates_and_left_to_right_has_none():
    for one in drafts(BY_NAME["locale_ar"]):
        assert (one.text[0], one.text[-1]) == ("\u2067", "\u2069")
        assert one.text.count("\u2068") == 1
        assert one.text.count("\u2067") + one.text.count("\u2068") == one.text.count("\u2069")
        assert "\u202e" not in one.text, "an override would turn the text around"
    for name in set(BY_NAME) - {"locale_ar"}:
        assert not any(
            mark in one.text for one in drafts(BY_NAME[name]) for mark in "\u2067\u2068\u2069\u200f"
        )
