import pytest

from faultwire.checks.output_not_empty import OutputNotEmpty


@pytest.mark.parametrize(
    ("answer", "verdict"),
    [
        ("391", "pass"),
        (" . ", "pass"),
        ("日本", "pass"),
        ("", "fail"),
        (" \n\t", "fail"),
        ("\u200b\ufeff\u2060", "fail"),
        ("\x1b\x07", "fail"),
        ("\u00a0\u3000", "fail"),
    ],
)
def test_only_visible_characters_count(history, answer, verdict):
    assert OutputNotEmpty().verdict(history(answer)).verdict == verdict


def test_it_counts(history):
    assert OutputNotEmpty().verdict(history("a b")).value == 2
    assert OutputNotEmpty().verdict(history("a b")).explanation == "the answer has 2 visible characters"
    assert OutputNotEmpty().verdict(history(" \n")).explanation == "the answer is empty"


def test_it_counts_among_many_kinds_of_invisible_characters(history):
    blanks = "".join(map(chr, range(0x2000, 0x2010)))
    assert OutputNotEmpty().verdict(history(f"{blanks}a{blanks}bb{blanks}")).value == 3
