import pytest

from faultwire.report.text import clip, inert, line


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain ascii", "plain ascii"),
        ("línea\nand\ttab – 日本 🙂 e\u0301", "línea\nand\ttab – 日本 🙂 e\u0301"),
        ("\x1b[2J\x1b]8;;http://x\x07", "\\x1b[2J\\x1b]8;;http://x\\x07"),
        ("a\rb\x08c\x7f\x9b", "a\\x0db\\x08c\\x7f\\x9b"),
        ("\u202egpj.exe\u2066", "\\u202egpj.exe\\u2066"),
        ("zero\u200bwidth\ufeff\u2060\u00ad", "zero\\u200bwidth\\ufeff\\u2060\\xad"),
        ("tag\U000e0041 \ue000 \udc80", "tag\\U000e0041 \\ue000 \\udc80"),
        ("\u2028\u2029\u3164", "\\u2028\\u2029\\u3164"),
    ],
)
def test_what_steers_or_hides_is_spelled_out(text, shown):
    assert inert(text) == shown
    assert inert(shown) == shown


def test_clip_says_how_much_is_missing():
    assert clip("x" * 10, 10) == "x" * 10
    assert clip("x" * 11, 10) == "x" * 10 + "… [1 more character]"
    assert clip("x" * 5010, 10) == "x" * 10 + "… [5,000 more characters]"


def test_a_line_is_one_line_and_short():
    assert line("a\n  b\tc\x1b") == "a b c\\x1b"
    assert line("x" * 50_000_000, 20) == "x" * 20 + "… [60 more characters]"
