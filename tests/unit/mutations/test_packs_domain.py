"""Domains: each asks in words of its own, and none in those of another."""

from __future__ import annotations

from faultwire.mutations.packs_domain import PACKS

OWN = {"finance": "reconcile", "health": "doses", "support": "refund", "code": "commit"}


def test_each_domain_has_its_words_and_no_other_has_them():
    texts = {
        one.name: " ".join((*one.pack.frames, *(word for words in one.pack.words.values() for word in words)))
        for one in PACKS
    }
    assert set(texts) == set(OWN)
    for name, word in OWN.items():
        assert [each for each, text in texts.items() if word in text] == [name]
