"""The semantic engine's interface, with a stand-in encoder; tests/e2e/semantic runs the real packages."""

import sys

import pytest

from faultwire.errors import UsageError
from faultwire.patterns import compare
from faultwire.patterns._semantic import PACKAGE, encoder, similarity


class Letters:
    """Counts letters: enough of an embedding for the interface."""

    def encode(self, texts):
        return [[float(text.lower().count(c)) for c in "abcdefghijklmnopqrstuvwxyz"] for text in texts]


def test_cosine():
    assert similarity("listen", "silent", Letters()) == pytest.approx(1.0)
    assert similarity("aaa", "bbb", Letters()) == 0.0
    assert similarity("", "", Letters()) == 1.0


def test_without_the_extra_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, PACKAGE, None)  # importing it fails, installed or not
    encoder.cache_clear()
    with pytest.raises(UsageError, match="not installed") as error:
        compare("a b", "a c", engine="semantic")
    assert "faultwire[semantic]" in str(error.value.hint)


def test_json_needs_no_model():
    assert compare('{"a": 1}', '{"a": 1.0}', engine="semantic").same
