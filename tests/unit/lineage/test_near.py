from __future__ import annotations

from faultwire.lineage.near import RUN, WINDOW, WORDS, overlap, words_of

TEXT = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen"


def shared(one: str, other: str) -> set[int]:
    return words_of(one).marks.keys() & words_of(other).marks.keys()


def test_a_run_of_enough_words_shares_a_fingerprint_wherever_it_stands() -> None:
    run = " ".join(TEXT.split()[3 : 3 + WORDS + WINDOW - 1])
    for before in range(12):
        other = " ".join(f"w{at}" for at in range(before)) + " " + run + " and the rest of it"
        assert shared(TEXT, other), before


def test_the_run_is_the_longest_and_stands_so_in_the_second_text() -> None:
    second = "So: Two, three four FIVE six seven eight nine - ten and no more"
    found = overlap(words_of(TEXT), words_of(second), shared(TEXT, second))
    assert found is not None
    assert (found.run, found.words, found.verbatim) == (
        "Two, three four FIVE six seven eight nine - ten",
        9,
        False,
    )
    again = overlap(words_of(TEXT), words_of(TEXT), set(words_of(TEXT).marks))
    assert again is not None
    assert again.verbatim


def test_a_shorter_run_is_no_overlap() -> None:
    second = "apples " + " ".join(TEXT.split()[2 : 2 + RUN - 1]) + " pears"
    assert overlap(words_of(TEXT), words_of(second), shared(TEXT, second)) is None


def test_short_texts_have_no_fingerprint() -> None:
    assert words_of("one two three").marks == {}
    assert words_of("").marks == {}
