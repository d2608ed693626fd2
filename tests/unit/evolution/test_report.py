"""Exports hold what failed and nothing else, and load where they are used."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from faultwire.cli._evolved import chosen, exit_code, rendered
from faultwire.cli.evolve import TAKEN, evolve
from faultwire.config.load import load
from faultwire.errors import FaultError, UsageError
from faultwire.evolution.mutant import Evolved, Step
from faultwire.evolution.report import as_jsonl, as_prompts, clean, document, lines
from faultwire.evolution.search import Failure, Result, Seen, Tried

MUTANT = Evolved(0, 'Wat "is" 17 × 23?\n# no comment: {x}', (Step("noise", 3, "2 typing errors"),))
OTHER = Evolved(0, "for the third time", (Step("tone_shift", 0, "frame 2"),))
ABOUT = {"seed": 7, "command": ["agent"], "budget": 9, "failing": "a check fails", "tape": "run.tape"}


def made(*failures, unfit=(), ended="budget", searched=True):
    tried = (Tried(3, "search", MUTANT, Seen(True, "b", "wrong")),) if searched else ()
    result = Result(tried, failures, tuple(unfit), ended, 2)
    return document(result, ["What is 17 × 23?"], {MUTANT.id: "400", OTHER.id: "?"}, {MUTANT.id: "s"}, ABOUT)


FOUND = made(Failure(MUTANT, "wrong", 2, 2), Failure(OTHER, "once", 1, 2))


def test_a_failure_has_its_lineage_and_one_that_was_not_confirmed_stands_apart():
    (one,) = FOUND["failures"]
    assert one["lineage"] == [{"type": "noise", "throw": 3, "how": "2 typing errors"}]
    assert (one["original"], one["text"], one["answer"], one["session"]) == (
        "What is 17 × 23?",
        MUTANT.text,
        "400",
        "s",
    )
    assert [one["id"] for one in FOUND["unconfirmed"]] == [OTHER.id]
    assert FOUND["types"] == [{"type": "noise", "tried": 1, "failures": 1}]


def test_json_lines_have_a_message_the_rejected_answer_and_the_reference():
    (line,) = as_jsonl(FOUND, {0: "391"}).splitlines()
    one = json.loads(line)
    assert one["messages"] == [{"role": "user", "content": MUTANT.text}]
    assert (one["rejected"], one["reference"]["answer"]) == ("400", "391")
    assert as_jsonl(made(), {}) == ""


def test_golden_prompts_load_in_a_configuration(tmp_path: Path):
    text = 'version: "2.0"\nagent: {type: command, command: [cat, "{prompt}"]}\n' + as_prompts(FOUND)
    (tmp_path / "faultwire.yaml").write_text(text)
    loaded = load(tmp_path / "faultwire.yaml")
    assert yaml.safe_load(as_prompts(FOUND))["golden_prompts"][0]["prompt"] == MUTANT.text
    assert [one.text for one in loaded.prompts] == [MUTANT.text]


def test_sentences_are_printed_only_where_they_are_true():
    some, none = list(lines(FOUND)), list(lines(made(unfit=[0], ended="exhausted")))
    assert some[0] == "1 mutant failed whenever asked again, in 1 run with 2 behaviours; ended by --budget"
    assert any("1 failure not confirmed" in line for line in some)
    assert none[0].startswith("no failure was confirmed in 1 run with 2 behaviours; ended since no type")
    assert "prompt 1 was left out: it does not pass as it is" in none
    assert not any("left out" in line for line in some)
    assert not any("not confirmed: the" in line for line in none)


def test_exit_codes():
    assert exit_code(FOUND) == 1
    assert exit_code(made()) == 0
    with pytest.raises(UsageError, match="no prompt that passes as it is"):
        exit_code(made(unfit=[0]))
    with pytest.raises(FaultError, match="ended before a mutant was asked"):
        exit_code(made(searched=False))


def test_formats_types_and_options():
    assert json.loads(rendered(FOUND, {}, ".json"))["format"] == "faultwire.evolution/1"
    assert rendered(FOUND, {}, ".yaml").startswith("golden_prompts:")
    assert chosen(("noise",)) == ("noise",)
    with pytest.raises(UsageError, match="found mutation `nois`"):
        chosen(("nois",))
    assert not {one.name for one in evolve.params} & TAKEN


def test_a_secret_in_a_prompt_is_in_no_file():
    """It is kept from the tape; the document beside it must not hold it either."""
    secret = "sk-proj-0123456789"
    mutant = Evolved(0, f"use {secret} now", (Step("noise", 0, f"of {secret}"),))
    result = Result(
        (), (Failure(mutant, f"printed {secret}", 2, 2), Failure(OTHER, "x", 2, 2)), (), "budget", 1
    )
    found = document(result, [f"use {secret}"], {mutant.id: secret}, {}, {**ABOUT, "command": ["a", secret]})
    assert secret in json.dumps(found), "the control"
    cleaned = clean(found, lambda text: text.replace(secret, "[key]"))
    assert secret not in "".join(
        [json.dumps(cleaned), as_jsonl(cleaned, {}), as_prompts(cleaned), *lines(cleaned)]
    )
    assert [one["redacted"] for one in cleaned["failures"]] == [True, True], "the prompt of both had one"
    assert yaml.safe_load(as_prompts(cleaned))["golden_prompts"] == []
    plain = clean(document(result, ["hi"], {}, {}, ABOUT), lambda text: text.replace(secret, "[key]"))
    assert [one["redacted"] for one in plain["failures"]] == [True, False]
    assert [one["prompt"] for one in yaml.safe_load(as_prompts(plain))["golden_prompts"]] == [OTHER.text]
    assert "left out here" in "\n".join(lines(plain))
    assert "left out here" not in "\n".join(lines(FOUND))
