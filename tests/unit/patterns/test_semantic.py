"""The semantic engine's interface, with a stand-in encoder; the real package when it is installed."""

import importlib.util

import pytest

from faultwire.errors import UsageError
from faultwire.patterns import compare
from faultwire.patterns._semantic import PACKAGE, similarity

INSTALLED = importlib.util.find_spec(PACKAGE) is not None


class Letters:
    """Counts letters: enough of an embedding for the interface."""

    def encode(self, texts):
        return [[float(text.lower().count(c)) for c in "abcdefghijklmnopqrstuvwxyz"] for text in texts]


def test_cosine():
    assert similarity("listen", "silent", Letters()) == pytest.approx(1.0)
    assert similarity("aaa", "bbb", Letters()) == 0.0
    assert similarity("", "", Letters()) == 1.0


@pytest.mark.skipif(INSTALLED, reason="the extra is installed")
def test_without_the_extra_it_says_what_to_install():
    with pytest.raises(UsageError, match="not installed"):
        compare("a b", "a c", engine="semantic")


@pytest.mark.skipif(not INSTALLED, reason="needs the extra `[semantic]`")
def test_the_guard_holds_over_meanings():
    found = compare("The refund is 40 EUR.", "The refund amounts to 45 EUR.", engine="semantic")
    assert not found.same
    assert found.reasons
    assert compare("The car is fast.", "The automobile is quick.", engine="semantic").similarity > 0.6


def test_json_needs_no_model():
    assert compare('{"a": 1}', '{"a": 1.0}', engine="semantic").same
