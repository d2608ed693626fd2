from faultwire.report.diff import exchange, lines


def test_equal_texts_have_no_diff():
    assert lines("a\nb", "a\nb") == []
    assert lines("", "") == []


def test_a_changed_line_stands_with_its_neighbours():
    old = "\n".join(f"line {n}" for n in range(20))
    assert lines(old, old.replace("line 9", "other")) == [
        ("…", "7 lines"), (" ", "line 7"), (" ", "line 8"), ("-", "line 9"), ("+", "other"),
        (" ", "line 10"), (" ", "line 11"), ("…", "8 lines"),
    ]  # fmt: skip


def test_added_and_removed_lines():
    assert lines("a\nc", "a\nb\nc") == [(" ", "a"), ("+", "b"), (" ", "c")]
    assert lines("a\nb\nc", "a\nc") == [(" ", "a"), ("-", "b"), (" ", "c")]
    assert lines("", "new") == [("-", ""), ("+", "new")]


def test_a_long_line_is_shown_where_it_differs():
    minus, plus = lines("x" * 3000 + "A" + "y" * 3000, "x" * 3000 + "B" + "y" * 3000)
    assert (minus[0], plus[0]) == ("-", "+")
    assert "A" in minus[1]
    assert "B" in plus[1]
    assert max(len(minus[1]), len(plus[1])) < 300
    assert minus[1].startswith("…")
    assert minus[1].endswith("…")


def test_two_differences_leave_out_what_is_between():
    old = [f"line {n}" for n in range(40)]
    new = ["first", *old[1:39], "last"]
    shown = lines("\n".join(old), "\n".join(new))
    assert ("…", "34 lines") in shown
    assert [text for sign, text in shown if sign == "+"] == ["first", "last"]


def test_a_flood_is_cut():
    shown = lines("\n".join(map(str, range(5000))), "\n".join(f"x{n}" for n in range(5000)))
    assert len(shown) == 161
    assert shown[-1][0] == "…"


def part(**changes):
    request = {
        "method": "POST",
        "url": "https://a/",
        "headers": [["a", "1"]],
        "body": {"bytes": 1, "text": "x"},
    }
    said = {"status": 200, "reason": "OK", "headers": [], "body": {"bytes": 1, "text": "good"}}
    return {"request": request, "sent": None, "upstream": None, "delivered": said, "stream": None, **changes}


def test_upstream_and_delivered_responses_are_compared():
    found = exchange(
        part(upstream={"status": 429, "reason": "No", "headers": [], "body": {"bytes": 1, "text": "good"}})
    )
    assert found["said"][:2] == [("-", "429 No"), ("+", "200 OK")]
    assert found["sent"] == []


def test_what_was_asked_is_held_against_what_was_sent_on():
    sent = part()["request"] | {"headers": [["a", "2"]]}
    assert exchange(part(sent=sent))["sent"] == [
        (" ", "POST https://a/"), ("-", "a: 1"), ("+", "a: 2"), (" ", ""), (" ", "x"),
    ]  # fmt: skip


def test_a_truncated_stream_is_not_compared():
    cut = part(upstream=part()["delivered"] | {"status": 500}, stream={"withheld": ["x"]})
    assert exchange(cut)["said"] == []
