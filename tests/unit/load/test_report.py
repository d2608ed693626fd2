"""The document has its shape, the terminal 60 columns, and no sentence is said where it is false."""

from __future__ import annotations

import jsonschema
import pytest
from pydantic import ValidationError
from tests.unit.load.test_knee import ramp
from tests.unit.load.test_races import ALONE, BESIDE, runs

from faultwire.cli._loaded import exit_code
from faultwire.errors import FaultError
from faultwire.load.knee import knee
from faultwire.load.measure import measured
from faultwire.load.races import races
from faultwire.load.report import curve, document, knee_words, lines, page, race_words
from faultwire.load.shape import Load, schema

ABOUT = {
    "seed": 7, "command": ["python", "agent.py"], "cells": 2, "target": 0.95, "ended": "levels", "runs": 99,
    "failing": "a check fails: contains", "tape": "run.tape",
}  # fmt: skip


def made(levels=None, found=None, pressures=None, **changes):
    levels = ramp(4.0) if levels is None else levels
    found = races(ALONE, BESIDE, runs(0, ["pass"] * 5)) if found is None else found
    return document({**ABOUT, **changes}, levels, knee(levels, 1), found, pressures or {})


def test_a_document_fits_its_schema_and_nothing_else_does():
    found = made(pressures={"fds=64": runs(0, ["fail"] * 6)})
    jsonschema.validate(found, schema())
    with pytest.raises(ValidationError):
        Load.model_validate({**found, "more": 1})
    del found["knee"]
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(found, schema())


def test_figures_fit_into_60_columns():
    slow = [measured(256, 999, runs(0, ["fail"] * 9, 256), 0.95)]
    for found in (made(), made(levels=slow)):
        table = [line for line in lines(found) if line.lstrip()[:1].isdigit() or "at once" in line[:20]]
        assert table
        assert all(len(line) <= 60 for line in table[:-1] or table), table


def test_a_knee_is_printed_only_where_one_is_seen():
    assert knee_words(made()).startswith("knee at 4.")
    assert knee_words(made(levels=ramp(1000.0))) == "no knee seen up to 16"


def test_a_race_is_printed_only_where_one_is_found():
    assert next(race_words(made())).startswith("race: 1 cell failed only beside others (p = ")
    chance = [*runs(0, ["fail", *["pass"] * 7], 8, "b"), *runs(1, ["pass"] * 8, 8)]
    words = list(race_words(made(found=races(ALONE, chance, runs(0, ["pass"] * 5)))))
    assert words[0] == "1 cell failed beside others only: not significant"
    fine = races(ALONE, runs(0, ["pass"] * 6, 8), [])
    assert list(race_words(made(found=fine))) == ["no verdict differs only beside others"]
    none = races(ALONE, [], [])
    assert list(race_words(made(found=none))) == ["verdicts alone and beside others were not compared"]


def test_an_early_end_is_printed_only_where_there_was_one():
    assert not any("ended early" in line for line in lines(made()))
    assert any("ended early by --max-time" in line for line in lines(made(ended="time")))


@pytest.mark.parametrize(
    ("verdicts", "word"), [(["fail"] * 6, "worse"), (["pass"] * 6, "not significant"), ([], "not judged")]
)
def test_pressure_is_compared_with_the_same_cells_without_it(verdicts, word):
    levels = [measured(1, 12, ALONE, 0.95), *ramp(4.0)[1:]]
    found = made(levels=levels, pressures={"fds=8": runs(0, verdicts)})
    (one,) = found["pressures"]
    assert one["verdict"] == word
    passed = verdicts.count("pass")
    assert f"fds=8: {passed} of {len(verdicts)} passed, {word}" in list(lines(found))


def test_the_page_has_curves_and_no_script():
    text = page(made())
    assert text.count("<polyline") == 3
    assert "<script" not in text
    assert "knee at 4." in text
    hostile = made(failing="<img src=x>")
    assert "<img" not in page(hostile)
    assert page(made(levels=[measured(1, 2, [], 0.9)]))


def test_points_of_a_curve_stay_in_the_picture():
    points = curve([(1, 0.0), (8, 2.0)], [(1, 0.0), (8, 2.0)])
    assert [(p["x"], p["y"]) for p in points] == [(100.0, 160.0), (520.0, 40.0)]


def test_exit_codes():
    fine = races(ALONE, runs(0, ["pass"] * 6, 8), [])
    assert exit_code(made(found=fine)) == 0
    assert exit_code(made()) == 1
    over = [measured(1, 2, runs(0, ["fail", "pass"]), 0.95)]
    assert exit_code(made(levels=over, found=fine)) == 1
    with pytest.raises(FaultError, match="no invocation could be judged"):
        exit_code(made(levels=[measured(1, 2, runs(0, ["unknown"] * 2), 0.95)], found=fine))
