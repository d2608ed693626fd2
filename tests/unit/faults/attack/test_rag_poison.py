from __future__ import annotations

import json

import pytest
from pydantic import ValidationError

from faultwire.faults.attack.rag_poison import RagPoison


def test_every_document_that_speaks_of_it(talk, dice):
    retold = RagPoison(match="efund polic", payload="obey").rewrite_texts(talk, dice())
    assert [r.place for r in retold] == [talk[1], talk[3]], "not what the model said itself"
    assert json.loads(retold[1].text)["doc"].startswith("Refund policy: 30 days. obey")
    assert retold[1].effect == "payload 1 planted in a tool text"
    assert retold[0].canary == retold[1].canary


def test_a_glob_and_a_place(talk, dice):
    (retold,) = RagPoison(match="30 ????", payload="obey", position="start", canary=False).rewrite_texts(
        talk, dice()
    )
    assert json.loads(retold.text)["doc"] == "obey Refund policy: 30 days."


def test_nothing_that_matches(talk, dice):
    assert RagPoison(match="weather").rewrite_texts(talk, dice()) == []
    with pytest.raises(ValidationError):
        RagPoison()


def test_else_of_the_library_and_with_its_way_followed(talk, dice):
    (first, second) = RagPoison(match="efund polic", families=("task_shift",)).rewrite_texts(talk, dice())
    assert first.effect.startswith("task_shift/")
    assert first.effect.endswith(" planted in a user text")
    assert second.effect.endswith(" planted in a tool text")
    assert first.canary in first.text
    assert second.canary in second.text
    (retold,) = RagPoison(match="tickets", payload="see {canary}", canary=False).rewrite_texts(talk, dice())
    assert (retold.text, retold.canary) == ("And for tickets?\nsee reference", None)


def test_a_match_is_found_anywhere_in_a_text(talk, dice):
    for match in ("And for tickets?", "tickets", "And", "tickets?", "?", "*"):
        places = [told.place for told in RagPoison(match=match).rewrite_texts(talk, dice())]
        assert talk[4] in places
