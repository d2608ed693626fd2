from __future__ import annotations

import json

from faultwire.faults.attack.replace_in_context import ReplaceInContext


def test_every_text_with_the_span_but_the_models_own(talk, dice):
    told = ReplaceInContext(find="efund policy", payload="obey {canary}").rewrite_texts(talk, dice())
    assert [one.place for one in told] == [talk[1], talk[3]]
    assert told[0].text == f"What is our robey {told[0].canary}?"
    assert json.loads(told[1].text)["doc"] == f"Robey {told[1].canary}: 30 days."
    assert told[1].effect == "a span of a tool text replaced"


def test_nothing_without_the_span(talk, dice):
    assert ReplaceInContext(find="weather", payload="obey").rewrite_texts(talk, dice()) == []
