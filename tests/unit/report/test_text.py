import pytest
from tests.unit.report.hostile import EVERY

from faultwire.report.text import NOTE, cleaned, clip, line, shown, whole
from faultwire.text import safe


def test_clip_states_how_much_is_missing():
    assert clip("x" * 10, 10) == "x" * 10
    assert clip("x" * (10 + NOTE + 1), 10) == "x" * 10 + f"… [{NOTE + 1} more characters]"
    assert clip("x" * 5010, 10) == "x" * 10 + "… [5,000 more characters]"


def test_nothing_is_cut_to_say_that_a_few_characters_are_missing():
    for few in range(NOTE + 1):
        assert clip("x" * (10 + few), 10) == "x" * (10 + few)
    assert all(len(clip("x" * n, 10)) <= n for n in range(100))
    reason = "there are no `mutations` and no `invariants` of the file's own"
    assert line(reason, 60) == reason


def test_a_line_is_one_line_and_short():
    assert line("a\n  b\tc\x1b\u202e") == "a b c\\x1b\\u202e"
    assert line("x" * 50_000_000, 20) == "x" * 20 + "… [60 more characters]"


def test_clipped_text_is_not_scanned():
    read = []

    def redact(text):
        read.append(len(text))
        return text.replace("secret", "redacted")

    assert cleaned("my secret", 100, redact) == "my redacted"
    assert cleaned("my secret" + "x" * 50_000_000, 12, redact) == "my redactedx… [49,999,999 more characters]"
    assert read == [9, 48]


def test_a_secret_across_the_end_of_what_is_read_is_cut_away():
    text = cleaned("x" * 38 + "secret" + "y" * 100, 10, lambda text: text.replace("secret", "redacted"))
    assert text == "x" * 10 + "… [134 more characters]"


@pytest.mark.parametrize(
    "text", [*EVERY, "größer 漢字 😀 …", "\U0001f600\ufe0f", "a\u3164b", "\ufe00", "\u00a0"]
)
def test_shown_is_safe_with_lines(text):
    assert shown(text) == safe(text, lines=True)


def test_lone_surrogates_are_escaped():
    assert whole("a\udcffb\ud800c") == "a\ufffdb\ufffdc"
    assert whole("größer 😀") == "größer 😀"
    assert whole("\ud83d\ude00") == "😀"
    assert clip("\udcff" * 30, 2) == "\ufffd\ufffd… [28 more characters]"
