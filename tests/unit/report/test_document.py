import json
from dataclasses import replace

import pytest

from faultwire.contract.matrix import Matrix
from faultwire.events import AgentResult, History, Verdict
from faultwire.report.document import SCHEMA, VERSION, Subject, document
from faultwire.report.schema import problems

PARTS = (
    "schema", "version", "generator", "run", "score", "statistics", "suggestions", "scenarios", "prompts",
    "invariants", "cells", "invocations", "mutations", "comparison", "trend",
)  # fmt: skip


def test_version_1_matches_its_schema(make_document):
    document = make_document()
    assert (document["schema"], document["version"]) == (SCHEMA, VERSION) == ("faultwire-report", "1")
    assert tuple(document) == PARTS
    assert problems(document) == []


def test_score_and_cells(make_document):
    document = make_document()
    assert (document["score"]["value"], document["score"]["gate"]) == (25.0, "fail")
    assert (document["score"]["number"], document["score"]["measure"]) == (25.0, "resilience score")
    assert [(c["invocation"], c["invariant"], c["verdict"]) for c in document["cells"]] == [
        ("calm/p1/r1", "completes", "pass"),
        ("calm/p1/r1", "says_391", "pass"),
        ("calm/p1/r1", "no_retry_storm", "pass"),
        ("stream_chaos/p1/r1", "completes", "pass"),
        ("stream_chaos/p1/r1", "says_391", "fail"),
        ("stream_chaos/p1/r1", "no_retry_storm", "pass"),
    ]


def test_instants_are_only_in_keys_named_for_them(make_document, make_recorded):
    """What `same seed, same report` leaves out."""

    def untimed(value):
        if isinstance(value, dict):
            return {k: untimed(v) for k, v in value.items() if not k.endswith(("_at", "_ms", "_s"))}
        return [untimed(v) for v in value] if isinstance(value, list) else value

    left = json.dumps(untimed(make_document()))
    assert "2026-11-21T22:00" not in left
    assert "0.61" not in left
    assert "60.0" not in left


def test_long_answers_are_cut(make_document):
    document = make_document(answer_calm="391" + "x" * 1_000_000)
    answer = document["invocations"][0]["answer"]
    assert len(answer) < 17_000
    assert answer.endswith("more characters]")


def test_what_the_agent_printed_is_redacted(make_document):
    from faultwire.report import document as module

    seen = []

    def redact(text):
        seen.append(text)
        return text.replace("sk-secret", "redacted")

    made = make_document(answer_calm="391 sk-secret", stderr="key sk-secret", redact=redact)
    assert "sk-secret" not in json.dumps(made)
    assert "391 redacted" in json.dumps(made)
    assert module.ANSWER > 0


def test_every_text_is_redacted():
    with pytest.raises(TypeError, match="redact"):
        document(None, [], [], [], None, [])


def test_a_run_that_was_interrupted_is_partial(make_document):
    assert make_document()["run"]["partial"] is False
    assert make_document(about={"planned": 2})["run"]["partial"] is False
    run = make_document(about={"planned": 5, "phase": "contract", "warnings": ("`x` means nothing",)})["run"]
    assert (run["partial"], run["planned"], run["phase"]) == (True, 5, "contract")
    assert run["warnings"] == ["`x` means nothing"]


def test_an_earlier_run_and_the_trend_are_optional(make_document):
    first = make_document(answer_cut="391 is the answer")
    later = make_document(before=first, trend=[{"id": "a", "started_at": "2026-01-01", "score": 50.0}])
    assert (first["comparison"], first["trend"]) == (None, None)
    assert later["comparison"]["worse_count"] == 1
    assert [run["score"] for run in later["trend"]["runs"]] == [50.0, 25.0]
    assert problems(later) == []


def test_the_forwarded_request_is_shown_with_the_agents(make_document, make_recorded):
    asked = make_recorded(1, "calm/p1/r1").request
    body = b'{"model": "gpt-4o-mini", "messages": [{"role": "user", "content": "18 * 23?"}]}'
    made = make_document(forwarded={("calm/p1/r1", 1): replace(asked, body=body), ("calm/p1/r1", 2): asked})
    first, second = made["invocations"][0]["exchanges"]
    assert "18 * 23?" in first["sent"]["body"]["text"]
    assert [turn["text"] for turn in first["conversation"]["told"]] == ["18 * 23?"]
    assert second["sent"] is None  # nothing was changed
    assert problems(made) == []


def test_what_is_whole_only_where_its_pieces_are_joined_is_redacted(make_document):
    """The tape redacts each message of a stream or socket by itself; a report joins what they say."""
    secret = "17 times 23 is 391"
    assert secret in json.dumps(make_document(answer_calm="x"))  # the control
    made = make_document(answer_calm="x", redact=lambda text: text.replace(secret, "HIDDEN"))
    assert secret not in json.dumps(made)
    assert made["invocations"][0]["exchanges"][1]["conversation"]["answer"]["text"] == "HIDDEN."
    assert problems(made) == []


def test_the_number_of_a_phase_is_that_by_which_ci_counts_it(make_document):
    chaos = make_document(about={"phase": "chaos"})["score"]
    assert (chaos["value"], chaos["number"], chaos["measure"]) == (25.0, 0.0, "chaos resilience")
    replay = make_document(about={"phase": "replay"})["score"]
    assert (replay["number"], replay["measure"]) == (50.0, "sessions passed")
    mutation = make_document(about={"phase": "mutation"})["score"]
    assert (mutation["number"], mutation["measure"]) == (None, "robustness")  # no prompt is a mutant
    contract = make_document(about={"phase": "contract"})["score"]
    assert (contract["number"], contract["measure"]) == (25.0, "resilience score")


def test_of_many_exchanges_those_that_matter_are_shown(make_recorded, make_fired, make_matrix):
    """More than a report holds: what a fault met, a verdict names or broke off is never among the rest."""
    (cell,) = make_matrix(("calm", "p1", 1, "a", "fail")).cells
    cell = replace(cell, verdict=Verdict("fail", "because of", exchanges=(180,)))
    special = {150: {"faults": (make_fired(),)}, 160: {"ending": "upstream_aborted"}}
    skipped = {170: {"faults": (make_fired(outcome="skipped"),)}}
    session = cell.invocation.id
    exchanges = tuple(make_recorded(n, session, **(special | skipped).get(n, {})) for n in range(1, 201))
    history = History(session, exchanges, AgentResult("", 0, 1.0))
    subject = Subject("r", "run", "agent", 42, 1, "2026-11-21T22:00:00+00:00", 1.0, "ab" * 32, ("t",))
    scenario, prompt = cell.invocation.scenario, cell.invocation.prompt
    made = document(
        subject, [scenario], [prompt], [], Matrix((cell,)), [(cell.invocation, history)], redact=str
    )
    (one,) = made["invocations"]
    assert [e["number"] for e in one["exchanges"]] == [*range(1, 98), 150, 160, 180]
    assert one["exchanges_not_shown"] == 100
