import io

import pytest
from rich.console import Console

from faultwire.report import terminal_numbers as numbers
from faultwire.report.terminal import render


def printed(part):
    """Lines without rules, blanks drawn together."""
    console = Console(file=io.StringIO(), width=120)
    console.print(part)
    lines = [" ".join(line.split()) for line in console.file.getvalue().splitlines()]
    return [line for line in lines if line.strip("─")]


def test_empty_sections_are_left_out():
    assert numbers.comparison(None) is None
    assert numbers.trend(None) is None
    assert numbers.mutations(None) is None
    assert numbers.fixes([]) is None
    assert numbers.statistics({"scenarios": []}) is None


def test_statistics_of_repeats(make_matrix):
    from faultwire.report.statistics import statistics_part

    rows = [("calm", "p1", at, "a", "pass") for at in (1, 2, 3)]
    rows += [("chaos", "p1", at, "a", "fail" if at == 2 else "pass") for at in (1, 2, 3)]
    assert printed(numbers.statistics(statistics_part(make_matrix(*rows)))) == [
        "statistics",
        "scenario without a failure 95% interval all 3 pass against calm",
        "calm 3 of 3 46 to 100 % 100 % (>= 5 %) -",
        "chaos 2 of 3 18 to 96 % 0 % (>= 0 %) not significant: -33 points (-79 to +29, p 0.69)",
        "flaky: a in chaos on p1 (2 passed, 1 failed)",
    ]


def test_many_flaky_cells_are_counted(make_matrix):
    from faultwire.report.statistics import statistics_part

    rows = [("calm", f"p{n}", at, "a", v) for n in range(9) for at, v in ((1, "pass"), (2, "fail"))]
    assert printed(numbers.statistics(statistics_part(make_matrix(*rows))))[-1] == "… 3 more flaky"


def test_broken_is_another_word_than_flaky(make_matrix):
    from faultwire.report.statistics import statistics_part

    rows = [("calm", f"p{n}", at, "a", "fail") for n in range(9) for at in (1, 2)]
    part = statistics_part(make_matrix(*rows))
    text = printed(numbers.statistics(part))
    assert "broken: a in calm on p0 (2 of 2 failed)" in text
    assert text[-1] == "… 3 more broken"
    assert not any("flaky" in one for one in text)
    del part["broken"], part["broken_count"]
    assert not any("broken" in one for one in printed(numbers.statistics(part))), "an earlier release's"


def test_an_earlier_run_is_held_beside_it(make_document):
    text = " ".join(printed(render(make_document(before=make_document(answer_cut="391!")))))
    assert (
        "comparison compared with 20261121T220000Z-00aa: the difference is not significant (-50 points"
        in text
    )
    assert "cells that newly fail: 1, that newly pass: 0" in text


@pytest.mark.parametrize(
    ("difference", "words"), [(-1.0, "significantly worse"), (1.0, "significantly better")]
)
def test_a_real_difference_is_called_so(make_document, difference, words):
    document = make_document(before=make_document())
    document["comparison"]["overall"] |= {"verdict": "significant", "difference": difference}
    assert words in " ".join(printed(numbers.comparison(document["comparison"])))


def test_a_trend_is_a_picture_and_numbers():
    part = {"runs": [{"score": 0.0}, {"score": None}, {"score": 55.0}, {"score": 100.0}]}
    assert printed(numbers.trend(part)) == ["trend", "▁ ▅█ 0.00, none, 55.00, 100.00 (newest last)"]
    assert printed(numbers.trend(part, plain=True))[1] == "0.00, none, 55.00, 100.00 (newest last)"


def test_mutations_are_reported_by_type():
    row = {"type": "noise", "weight": 1.0, "passed": 1, "total": 2, "low": 0.1, "high": 0.9}
    part = {"robustness": 0.5, "types": [row], **row}
    assert printed(numbers.mutations(part)) == [
        "mutations",
        "robustness 50.0% (1 of 2 mutants, 10 to 90 %)",
        "type weight passed interval",
        "noise 1 1 of 2 10 to 90 %",
    ]


def test_what_to_bear_in_mind_comes_before_the_score(make_document):
    lines = printed(render(make_document(about={"planned": 7, "warnings": [f"w{n}" for n in range(12)]})))
    at = lines.index("warnings")
    assert lines[at + 1 : at + 3] == ["partial: 2 of 7 invocations were run", "w0"]
    assert lines[at + 9] == "… 5 more in the report"
    assert lines[at + 10].startswith("score")


def test_what_repeating_decided_is_counted_and_named(make_document):
    decisions = ((("calm", "p1"), "good"), *((("chaos", f"p{n}"), "bad") for n in range(9)))
    lines = printed(numbers.statistics(make_document(decisions=decisions)["statistics"]))
    assert "repeated until decided: 9 bad, 1 good" in lines
    assert lines[-2:] == ["bad: p5 in chaos", "… 3 more"]


def test_runs_that_no_trend_holds_are_counted_by_what_differs():
    part = {"runs": [{"score": 55.0}], "left_out": {"seed": 2, "agent": 1}}
    words = "earlier runs that are not comparable: 2 with another seed, 1 with another agent"
    assert words in printed(numbers.trend(part))
    assert printed(numbers.trend({**part, "left_out": {}}))[-1].endswith("(newest last)")


def test_a_scenario_without_runs_has_nothing_to_compare(make_matrix):
    from faultwire.report.statistics import statistics_part

    rows = [("calm", "p1", 1, "a", "pass"), ("chaos", "p1", 1, "a", "fail")]
    part = statistics_part(make_matrix(*rows))
    assert "nothing to compare" not in " ".join(printed(numbers.statistics(part)))
    for row in part["scenarios"]:
        if row["against_calm"] is not None:
            row["against_calm"]["difference"] = None
    assert "nothing to compare" in " ".join(printed(numbers.statistics(part)))
