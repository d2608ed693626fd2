from faultwire.report.text import clip, line


def test_clip_says_how_much_is_missing():
    assert clip("x" * 10, 10) == "x" * 10
    assert clip("x" * 11, 10) == "x" * 10 + "… [1 more character]"
    assert clip("x" * 5010, 10) == "x" * 10 + "… [5,000 more characters]"


def test_a_line_is_one_line_and_short():
    assert line("a\n  b\tc\x1b\u202e") == "a b c\\x1b\\u202e"
    assert line("x" * 50_000_000, 20) == "x" * 20 + "… [60 more characters]"
