"""`faultwire.config.sections`: version, scoring, advanced, output."""

from __future__ import annotations

import pytest

from faultwire.config.sections import ADVANCED


def weights(found):
    return (found.scoring.mutation, found.scoring.chaos, found.scoring.contract, found.scoring.replay)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("", (0.2, 0.35, 0.35, 0.1)),
        ("scoring:", (0.2, 0.35, 0.35, 0.1)),
        ("scoring: {mutation: 0.25, chaos: 0.25, contract: 0.25, replay: 0.25}", (0.25,) * 4),
        (
            "scoring: {mutation: 0.3333, chaos: 0.3333, contract: 0.3333, replay: 0}",
            (0.3333, 0.3333, 0.3333, 0),
        ),
        ("scoring: {mutation: 0, chaos: 0, contract: 0, replay: 0}", (0, 0, 0, 0)),
        ("scoring: {weights: {mutation: 1, chaos: 0, contract: 0, replay: 0}}", (1, 0, 0, 0)),
        ("scoring: {weights: {mutation: 1, chaos: 0}, contract: 0, replay: 0}", (1, 0, 0, 0)),
    ],
)
def test_weights(config, text, wanted):
    assert weights(config(text)) == wanted


def test_the_nested_shape_is_read_and_reported(warned):
    assert warned("scoring: {weights: {mutation: 1, chaos: 0, contract: 0, replay: 0}}") == [
        "faultwire.yaml:3:11: `weights` is not needed: its keys are read as if they stood in `scoring` itself"
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "scoring: {mutation: 0.9}",
            "found weights that sum to 1.7 (mutation 0.9, chaos 0.35, contract 0.35",
        ),
        ("scoring: {mutation: 0.2011, chaos: 0.35, contract: 0.35, replay: 0.1}", "sum to 1.0011"),
        ("scoring: {mutation: 2}", "found `2` for `scoring.mutation`, expected a number from 0 to 1"),
        ("scoring: {weights: 3}", "found `3` for `scoring.weights`, expected a mapping"),
        (
            "scoring: {mutation: 1, weights: {mutation: 1, chaos: 0, contract: 0, replay: 0}}",
            "found `mutation` in `scoring` and in its `weights`, expected it once",
        ),
        (
            "advanced: {concurrency: 101}",
            "found `101` for `advanced.concurrency`, expected an integer from 1",
        ),
        ("advanced: {retries: 6}", "found `6` for `advanced.retries`, expected an integer from 0 to 5"),
        ("advanced: {repeat: 0}", "found `0` for `advanced.repeat`, expected an integer from 1 to 1000"),
        ("advanced: {repeat: 1001}", "found `1001` for `advanced.repeat`, expected an integer from 1"),
        ("advanced: {seed: '1'}", "found the text `1` for `advanced.seed`, expected an integer"),
        ("advanced: []", "found a list for `advanced`, expected a mapping"),
        ("output: {format: pdf}", "found `pdf` for `output.format`, expected `html`, `json`"),
        ("output: 3", "found `3` for `output`, expected a mapping"),
    ],
)
def test_what_is_refused(refused, text, said):
    (found,) = refused(text)
    assert said in found


@pytest.mark.parametrize("key", ADVANCED)
def test_keys_that_only_flakestorms_documentation_knows(warned, key):
    (said,) = warned(f"advanced: {{{key}: 1, seed: 3}}")
    assert said == f"faultwire.yaml:3:12: `{key}` is ignored in `advanced`: {ADVANCED[key]}"


def test_the_output_path_starts_from_the_files_folder(config, tmp_path):
    assert config("output: {path: ./reports}").output.path == tmp_path / "reports"
    assert config("output: {format: junit}").output.path is None
    assert config("output: {path: /abs, filename_template: null}").output.path.is_absolute()


def test_a_filename_template_is_reported_as_ignored(warned):
    (said,) = warned("output: {filename_template: 'x-{date}'}")
    assert "`filename_template` is not used: reports are called `report.html`" in said
