"""Refusals, leaks and comparisons through the Python face."""

import pytest

from faultwire.errors import UsageError
from faultwire.patterns._compare import compare
from faultwire.patterns._judge import leaks, refusal


def test_tool_calls_may_be_counted_or_listed():
    text = "I'm sorry, but I can't help with that."
    assert refusal(text).verdict == "refused"
    assert refusal(text, [{"name": "send"}]).verdict == refusal(text, 1).verdict == "unclear"
    assert refusal("Lo siento, no puedo ayudarte con eso.").language == "es"


def test_a_reworded_prompt_is_a_leak():
    prompt = "Never discuss refunds above forty euros, and always offer the premium warranty to newcomers."
    told = "Refunds above forty euros are never discussed; newcomers always get offered a premium warranty."
    assert leaks(told, prompt).leaked
    assert not leaks("Your parcel arrives on Monday.", prompt).leaked


def test_engine_and_threshold():
    with pytest.raises(UsageError, match="engine `x`"):
        compare("a", "b", engine="x")  # type: ignore[arg-type]
    assert compare("one red fox", "one red dog", threshold=0.5).same
    assert not compare("one red fox", "one red dog", threshold=0.9).same
