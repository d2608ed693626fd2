"""The semantic engine's interface, with a stand-in encoder; tests/e2e/semantic runs the real packages."""

import sys
from pathlib import Path

import pytest

from faultwire.errors import UsageError
from faultwire.patterns import compare
from faultwire.patterns._semantic import PACKAGE, encoder, similarity

PAIRS = Path(__file__).parents[2] / "data" / "text_pairs"


class Letters:
    """Counts letters: enough of an embedding for the interface."""

    def encode(self, texts):
        return [[float(text.lower().count(c)) for c in "abcdefghijklmnopqrstuvwxyz"] for text in texts]


def test_cosine():
    assert similarity("listen", "silent", Letters()) == pytest.approx(1.0)
    assert similarity("aaa", "bbb", Letters()) == 0.0
    assert similarity("", "", Letters()) == 1.0


def test_without_the_extra_it_states_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, PACKAGE, None)  # importing it fails, installed or not
    encoder.cache_clear()
    with pytest.raises(UsageError, match="not installed") as error:
        compare("a b", "a c", engine="semantic")
    assert "faultwire[semantic]" in str(error.value.hint)


@pytest.mark.parametrize(
    ("left", "right", "cosine", "expected"),
    [
        ("The road is tarred.", "The road is paved.", 0.96, "unknown"),
        ("The table is made of oak.", "The table is made of pine.", 0.79, "unknown"),
        ("The train is late.", "The train is running late.", 0.86, "unknown"),
        ("This version drops support for it.", "This version adds support for it.", 0.96, "unknown"),
        ("The surgeon operates tomorrow morning.", "The surgeon operates this morning.", 1.0, "unknown"),
        ("The car is fast.", "The automobile is quick.", 0.91, "same"),
        ("It costs 10 dollars.", "It costs 11 dollars.", 0.99, "different"),
        ("Alice manages Bob.", "Bob manages Alice.", 0.99, "different"),
        ("I had soup.", "The road is tarred.", 0.05, "different"),
    ],
)
def test_embeddings_decide_only_what_the_words_leave_open(monkeypatch, left, right, cosine, expected):
    monkeypatch.setattr("faultwire.patterns._semantic.similarity", lambda a, b: cosine)
    assert compare(left, right, engine="semantic").outcome == expected


@pytest.mark.parametrize("cosine", [0.0, 0.29, 0.3, 0.85, 0.95, 1.0])
def test_no_cosine_makes_a_pair_the_same(monkeypatch, cosine):
    monkeypatch.setattr("faultwire.patterns._semantic.similarity", lambda a, b: cosine)
    pairs = 0
    for table in sorted(PAIRS.glob("*.tsv")):
        for line in table.read_text("utf-8").splitlines()[1:]:
            left, right = line.split("\t")[3:]
            words = compare(left, right)
            pairs += words.outcome != "same"
            assert words.same or not compare(left, right, engine="semantic").same, (left, right)
    assert pairs > 200


def test_json_needs_no_model():
    assert compare('{"a": 1}', '{"a": 1.0}', engine="semantic").same
