"""What is said of a search is true of it: crashes, what reached the agent, and what was not generated."""

from __future__ import annotations

import json

import pytest
import yaml
from tests.unit.fuzz.simulated import CRASH, SOURCE

from faultwire.errors import UsageError
from faultwire.fuzz.case import Case, Part, Step, Target
from faultwire.fuzz.export import as_jsonl, as_prompts
from faultwire.fuzz.faces import ENDINGS, checked, render, sarif
from faultwire.fuzz.grammar import Source
from faultwire.fuzz.journal import Calm, Kept
from faultwire.fuzz.report import NO_PROOF, About, crash_lines, document, lines, not_generated, summary
from faultwire.fuzz.search import Found, Result, Seen, Tried

PROMPT = Source(Target("prompt", "1"), {"given": "hi"})
TYPED = Source(Target("result", "typed"), {"seen": "{}"}, {"type": "object"})
UNUSED = Source(Target("message", "tools/list"), {"seen": "{}"})
CASES = [
    Case((Part(SOURCE.target, "seen", "null", (Step("null", 0, "null at $"),)),)),
    Case((Part(TYPED.target, "seen", "{}", (Step("empty", 0, "empty at $"),)),)),
    Case((Part(TYPED.target, "seen", "[]", (Step("wrong_type", 0, "wrong_type at $"),)),)),
    Case((Part(PROMPT.target, "given", "x" * 3000, (Step("long", 0, "long at $"),)),)),
    Case((Part(SOURCE.target, "seen", "7"),)),
]


def made(
    *, again=1, crashed=True, reported=("python",), asked="python", void="", prompted=True, ended="budget"
):
    reached = [("agent",), ("model",), ("not",), ("agent",), ("agent",)]
    crash = CRASH._replace(frames=("agent.py:7 main",)) if crashed else None
    seen = [Seen(one) for one in reached]
    seen[0], seen[3] = Seen(("agent",), crash=crash), Seen(("agent",), frozenset({"py 1", "new"}))
    seen[4] = Seen(("agent",), void=void)
    tried = [
        Tried(at, "search", case, one, 2 * (at == 6))
        for at, (case, one) in enumerate(zip(CASES, seen, strict=True), 3)
    ]
    tried.append(Tried(8, "confirm", CASES[0], seen[0], 0))
    found = [Found(CRASH, CASES[0], CASES[0], 3, 1, 1, again, 4)] if crashed else []
    kept = {
        one.number: Kept(one.case.id, one.seen, "printed", "said", "run.tape", f"s-{one.number}")
        for one in tried
    }
    calm = Calm((PROMPT, SOURCE, TYPED, UNUSED), ("GET shop/x",), frozenset({"^", "py 0"}), 2)
    about = About(7, 40, ("agent",), True, asked, reported, prompted)
    return document(
        Result(tuple(tried), tuple(found), ended),
        calm,
        kept,
        {CRASH.key: "d"},
        {CRASH.key: "faultwire fuzz --rerun d"},
        about,
    )


FOUND = made(void="lost")


def test_what_was_generated_is_counted_by_how_far_it_came():
    assert FOUND["cases"] == {"generated": 5, "agent": 2, "model": 1, "not": 1, "void": 1}
    assert FOUND["phases"] == {"calm": 2, "search": 5, "confirm": 1}
    assert FOUND["runs"] == 8
    rows = {one["target"]: one for one in FOUND["targets"]}
    typed = rows["result of `typed`, call 1"]
    assert (typed["generated"], typed["agent"], typed["model"], typed["not"]) == (2, 0, 1, 1)
    assert typed["by_schema"] == {"valid": 1, "invalid": 1}
    assert rows["result of `order`, call 1"]["by_schema"] is None
    assert FOUND["features"] == {"wire": [1, 2], "coverage": [1, 2]}
    text = " ".join(summary(FOUND))
    assert "5 cases generated: 2 reached the agent, 1 only its model, 1 neither, 1 inconclusive." in text
    assert "8 runs of 40 (2 without a generated text, 5 to search, 1 to confirm)" in text


def test_no_crash_is_never_called_safe():
    text = " ".join(summary(made(crashed=False)))
    assert f"No crash was found. {NO_PROOF}" in text
    assert "safe" not in text
    assert NO_PROOF not in " ".join(summary(FOUND))
    assert "1 different crash, 1 of them confirmed by a repeat." in " ".join(summary(FOUND))
    assert "1 different crash, 0 of them confirmed by a repeat." in " ".join(summary(made(again=0)))


@pytest.mark.parametrize("ended", ["budget", "time", "finds", "exhausted"])
def test_the_end_is_named(ended):
    words = {"budget": "--budget", "time": "--max-time", "finds": "--finds", "exhausted": "no change"}
    text = " ".join(summary(made(ended=ended)))
    assert [name for name, word in words.items() if word in text] == [ended]


def test_coverage_is_reported_only_where_it_was():
    assert "Places in the code (python): 1, then 2." in " ".join(summary(FOUND))
    silent = " ".join(summary(made(reported=(), asked="auto")))
    assert "The agent told no coverage, although --coverage auto asked for it." in silent
    unasked = " ".join(summary(made(reported=(), asked="none")))
    assert "The agent's coverage was not asked for (--coverage)." in unasked
    assert "told no coverage" not in unasked


def test_answers_of_models_are_named_as_not_generated_only_where_none_came():
    about = About(7, 40, ("agent",), True, "none", (), True)
    words = "answers of models: none came as a JSON document or a stream of events"
    assert words in not_generated((SOURCE,), (), (), about)
    answer = Source(Target("answer", "model"), {"seen": "{}"})
    assert words not in not_generated((SOURCE, answer), (), (), about)


def test_what_was_not_generated_is_named():
    missing = FOUND["not_generated"]
    assert missing[0] == "answer to `tools/list`, call 1: no case"
    assert missing[1].startswith("GET shop/x: a call without the name of a tool")
    assert not any("prompts" in one for one in missing)
    assert any(one.startswith("prompts: none was given") for one in made(prompted=False)["not_generated"])
    assert "answers of models" in missing[-1]


def test_a_crash_in_a_terminal_states_whether_it_came_again_and_reached_the_agent():
    text = "\n".join(crash_lines(FOUND["crashes"][0]))
    assert "1. exit: exited 7 (1 case, came again)" in text
    assert "had reached" not in text
    other = made(again=0)["crashes"][0]
    assert "came again in 0 of 1 repeat" in "\n".join(crash_lines(other))
    assert "nothing that was generated had reached" in "\n".join(crash_lines({**other, "reached": ["model"]}))


@pytest.mark.parametrize("ending", [".html", ".md", ".json", ".sarif"])
def test_every_face_has_the_crash_its_command_and_what_was_not_generated(ending):
    text = render(FOUND, ending)
    assert "exited 7" in text
    assert "faultwire fuzz --rerun d" in text
    assert "answers of models" in text
    calm = render(made(crashed=False), ending)
    assert "faultwire fuzz --rerun" not in calm
    assert "## Crashes" not in calm


def test_a_hostile_text_stays_inert():
    found = json.loads(json.dumps(FOUND))
    found["crashes"][0]["title"] = found["crashes"][0]["parts"][0]["text"] = "<img src=x>\x1b[31m"
    page = render(found, ".html")
    assert "<img" not in page
    assert "\x1b" not in page
    assert "\x1b" not in "\n".join(one for one in lines(found) if "exit:" in one)


def test_exports_hold_confirmed_crashes_alone():
    (row,) = map(json.loads, as_jsonl(FOUND, "Where is it?").splitlines())
    assert row["messages"] == [
        {"role": "user", "content": "Where is it?"},
        {"role": "tool", "name": "result of `order`, call 1", "content": "null"},
    ]
    assert (row["rejected"], row["reason"]) == ("said", "exit: exited 7")
    assert as_jsonl(made(again=0), None) == ""
    assert yaml.safe_load(as_prompts(FOUND)) == {"golden_prompts": []}, "no prompt crashed"
    found = json.loads(json.dumps(FOUND))
    found["crashes"][0]["prompt"] = "boom"
    assert yaml.safe_load(as_prompts(found))["golden_prompts"] == [{"id": "fuzz-planted", "prompt": "boom"}]


def test_sarif_has_a_rule_for_each_class_and_a_level_by_the_repeat():
    (run,) = sarif(FOUND)["runs"]
    (result,) = run["results"]
    assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"] == "fuzz/exit"
    assert (result["level"], sarif(made(again=0))["runs"][0]["results"][0]["level"]) == ("error", "warning")
    assert result["partialFingerprints"] == {"crash/v1": CRASH.key}


def test_the_ending_names_the_format(tmp_path):
    for ending in ENDINGS:
        assert checked(tmp_path / f"x{ending}") == ending
    with pytest.raises(UsageError, match="expected a name that ends in"):
        checked(tmp_path / "x.txt")
